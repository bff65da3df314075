/* Preloaded into a test's process: the allocation that `fail_allocation` names, and it alone, is refused.
 *
 * Counted are either allocations of the thread that asked for it, from MINIMUM bytes on: what the interpreter asks for
 * in small pieces it takes from memory of its own, and NumPy does not look whether it got it. Or those of any size
 * that the modules of the package make, in all threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { MINIMUM = 1024 };

static __thread long left;              /* allocations until the one to refuse; 0: none is */
static atomic_long left_of_package;
static atomic_long refused;

void fail_allocation(long number, int of_package) {
    left = of_package ? 0 : number;
    left_of_package = of_package ? number : 0;
    refused = 0;
}
long allocations_refused(void) { left = left_of_package = 0; return refused; }

static int is_of_package(void *caller) {
    Dl_info found;
    return dladdr(caller, &found) && found.dli_fname && strstr(found.dli_fname, "/minidem/");
}

static int refuse(size_t size, void *caller) {
    if (left_of_package > 0 ? !is_of_package(caller) || atomic_fetch_sub(&left_of_package, 1) != 1
                            : left == 0 || size < MINIMUM || --left > 0) return 0;
    refused = 1;
    errno = ENOMEM;
    return 1;
}
#define REFUSE(size) refuse(size, __builtin_return_address(0))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) { return REFUSE(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return REFUSE(count * size) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return REFUSE(size) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { return REFUSE(size) ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void **to, size_t alignment, size_t size) {
    void *found = REFUSE(size) ? NULL : __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *to = found;
    return 0;
}
