"""Files that are written whole or not at all: a reader, a full disk or a killed process never meets half a file."""

import os
from contextlib import contextmanager
from pathlib import Path


def leftovers(path):
    """Temporary files that a killed process left behind when it replaced `path`, whose stem may have wildcards."""
    path = Path(path)
    return [file for file in path.parent.glob(f".{path.stem}.*{path.suffix}")
            if file.stem.rpartition(".")[2].isdecimal()]


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
    keeps the suffix, because some writers (numpy.savez) append their own to a name without it.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_text(path, text):
    """Write `text` (UTF-8) to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
