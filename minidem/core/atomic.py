"""Atomic file writes: after a full disk or a killed process the target is either the old file or the new one.

Content is first written to a temporary file in the folder of the target, which is then renamed. The temporary name is
random and created with O_EXCL, so that links are not followed and calls do not collide; its length does not depend on
the name of the target. The writer holds a lock (flock) on the temporary file. A temporary file without a lock belongs
to a process that was killed.
"""
import errno
import fcntl
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = ".minidem-"
_SUFFIX = 16            # bytes; longer suffixes name no format


def remove_leftovers(folder):
    """Remove the temporary files in `folder` whose writer was killed.

    Those locked by a live process, on this machine or another, stay; on a file system without locks all do.
    """
    for file in Path(folder).glob(_PREFIX + 16 * "[0-9a-f]" + "*"):
        with suppress(OSError):             # renamed in between, or another user's
            descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)          # OSError if it is being written
                file.unlink(missing_ok=True)
            finally:
                os.close(descriptor)


def to_disk(paths):
    """Flush these files to disk (fsync), so that files written later do not survive a power failure without them."""
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


@contextmanager
def naming(path, temporary=None):
    """Let an OSError of the block name `path`, if it names no file, as for a full disk, or the temporary one."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(temporary):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


@contextmanager
def replacing(path):
    """Yield a temporary path beside `path`, of the same suffix; rename it to `path` when the block succeeds.

    If the block fails, the temporary file is removed and `path` stays unchanged. Of a symbolic link the target is
    replaced. An existing file keeps its permissions, and its owner where the system allows.

    OSError, which names `path`: before the block if the name is too long, the folder is not writable, the file is
    read-only, or `path` is a folder, device, socket or pipe; in the block if the disk is full.
    """
    target, before = _destination(Path(path))
    temporary, descriptor = _reserve(path, target, 0o666 if before is None else 0o600)
    try:
        with naming(path, temporary):
            yield temporary
            if before is not None:
                with suppress(OSError):             # another user's file
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, before.st_mode & 0o777)
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def replace_text(path, text):
    """Write `text` (UTF-8) to the file `path` atomically; see `replacing`."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def append_whole(file, data):
    """Append bytes to a file opened with mode "ab", buffering=0: all of them, or, if the disk is full, none."""
    end, written = file.tell(), 0
    try:
        with naming(file.name):
            while written < len(data):
                written += file.write(data[written:])
    finally:
        if written < len(data):
            file.seek(file.truncate(end))


def _destination(path):
    """`path` with links resolved, and its status (None if it does not exist)."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return Path(os.path.realpath(path)), None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe" if stat.S_ISFIFO(status.st_mode) else "a device"
        raise OSError(errno.EISDIR if kind == "a folder" else errno.EINVAL,
                      f"{kind}, which cannot be replaced; give the name of a file", str(path))
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "the file is read-only; make it writable or give another name", str(path))
    return Path(os.path.realpath(path)), status


def _reserve(path, target, permissions):
    """Create and lock a temporary file beside `target`; return its path and descriptor."""
    suffix = target.suffix if len(os.fsencode(target.suffix)) <= _SUFFIX else ""
    while True:
        temporary = target.with_name(_PREFIX + secrets.token_hex(8) + suffix)
        try:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, permissions)
        except OSError as error:
            reason = error.strerror
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                reason += "; its folder must be writable, because a temporary file is created there"
            raise OSError(error.errno, reason, str(path)) from None
        with suppress(OSError):             # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return temporary, descriptor
        os.close(descriptor)                # `remove_leftovers` removed it before it was locked
