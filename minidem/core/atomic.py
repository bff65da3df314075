"""Files that are written whole or not at all: a reader, a full disk or a killed process never meets half a file.

A file is first written under a temporary name in the folder of its target, then renamed. The name is random and
new (O_EXCL), so that nobody can put a link in its way and no two calls share it; it does not grow with the name of
the target. While a file is being written its writer holds a lock on it (flock): a temporary file without a lock
belongs to a process that was killed.
"""

import errno
import fcntl
import os
import secrets
import stat
from contextlib import contextmanager
from pathlib import Path

_PREFIX = ".minidem-"
_SUFFIX = 16            # bytes; no writer knows a longer one


def remove_leftovers(folder):
    """Remove the temporary files in `folder` whose writer was killed.

    Those that any live process writes, on this machine or another, stay. On a file system without locks
    nothing is removed, since the two cannot be told apart.
    """
    for file in Path(folder).glob(_PREFIX + 16 * "[0-9a-f]" + "*"):
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:                     # renamed in between, or another user's
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
        except OSError:                     # being written
            pass
        finally:
            os.close(descriptor)


def to_disk(paths):
    """Wait until these files are on the disk: what follows does not outlast them in a power cut."""
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


@contextmanager
def replacing(path):
    """Yield a temporary path beside `path`; when the block succeeds it takes the place of `path` in one step.

    When the block fails the temporary file is removed and `path` stays as it was. The temporary name
    keeps the suffix, because some writers choose the format by it. A symbolic link stays, and what it leads to
    is replaced. A file keeps its permissions, and its owner where the system allows; a new one gets those that
    `open` gives.

    Raises OSError, before the block, for a name that is too long, a folder that admits no new file, a file that is
    read-only, and for anything that is no file: a folder, a device, a pipe.
    """
    target, before = _destination(Path(path))
    temporary, descriptor = _reserve(path, target, 0o666 if before is None else 0o600)
    try:
        yield temporary
        if before is not None:
            _grant(descriptor, before)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def replace_text(path, text):
    """Write `text` (UTF-8) to the file `path`, whole or not at all; see `replacing`."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_text(path, text):
    """`replace_text`; but where `path` is a character device or a pipe, /dev/stdout for one, write into it.

    Raises OSError also for a named pipe from which nobody reads.
    """
    stream = _stream(path)
    if stream is None:
        replace_text(path, text)
    else:
        with open(stream, "w", encoding="utf-8") as file:
            file.write(text)


def _destination(path):
    """What `path` leads to, and its status (None: there is none yet)."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        there = None
    if there is not None and not stat.S_ISREG(there.st_mode):
        kind = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}.get(
            stat.S_IFMT(there.st_mode), "a device")
        raise OSError(errno.EISDIR if kind == "a folder" else errno.EINVAL,
                      f"{kind}, which cannot be replaced; give the name of a file", str(path))
    if there is not None and not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "the file is read-only; make it writable or give another name", str(path))
    return Path(os.path.realpath(path)) if path.is_symlink() else path, there


def _reserve(path, target, permissions):
    """A new, locked temporary file beside `target`: its path and a descriptor."""
    suffix = target.suffix if len(os.fsencode(target.suffix)) <= _SUFFIX else ""
    while True:
        temporary = target.with_name(_PREFIX + secrets.token_hex(8) + suffix)
        try:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, permissions)
        except OSError as error:
            reason = error.strerror
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                reason += "; its folder must admit new files, since it is written beside the old one"
            raise OSError(error.errno, reason, str(path)) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:                     # a file system without locks
            pass
        if os.fstat(descriptor).st_nlink:
            return temporary, descriptor
        os.close(descriptor)                # removed as a leftover, before it was locked


def _grant(descriptor, before):
    """Give the file the owner and the permissions of the one before."""
    try:
        os.fchown(descriptor, before.st_uid, before.st_gid)
    except OSError:                         # another user's file
        pass
    os.fchmod(descriptor, before.st_mode & 0o777)


def _stream(path):
    """A descriptor of what `path` is if text can be written into it; None for a file."""
    try:
        there = os.stat(path)
    except OSError:
        return None
    for own in (1, 2):                      # /dev/stdout, even where it is a file: its offset is shared
        try:
            if os.path.samestat(os.fstat(own), there):
                return os.dup(own)
        except OSError:                     # closed
            pass
    if not (stat.S_ISCHR(there.st_mode) or stat.S_ISFIFO(there.st_mode)):
        return None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        reason = "nobody reads from this pipe; start its reader first" if error.errno == errno.ENXIO else error.strerror
        raise OSError(error.errno, reason, str(path)) from None
    os.set_blocking(descriptor, True)
    return descriptor
