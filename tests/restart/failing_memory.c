/* Preloaded into a test's process: the allocation that `fail_allocation` names, and it alone, is refused.
 *
 * Only the thread that asked for it is served so, and only from MINIMUM bytes on: what the interpreter asks for in
 * small pieces it takes from memory of its own, and NumPy does not look whether it got it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

enum { MINIMUM = 1024 };

static __thread long left;              /* allocations until the one to refuse; 0: none is */
static __thread long refused;

void fail_allocation(long number) { left = number; refused = 0; }
long allocations_refused(void) { left = 0; return refused; }

static int refuse(size_t size) {
    if (left == 0 || size < MINIMUM || --left > 0) return 0;
    refused = 1;
    errno = ENOMEM;
    return 1;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) { return refuse(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return refuse(count * size) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return refuse(size) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { return refuse(size) ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void **to, size_t alignment, size_t size) {
    void *found = refuse(size) ? NULL : __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *to = found;
    return 0;
}
