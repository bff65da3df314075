"""Settings and arrays in one .npz file with a checksum; damaged, foreign and newer files are refused with the reason.

Without pickle, and with no member larger than the file, one of unknown origin can neither run code nor exhaust memory.
"""
import hashlib
import json
import os
import platform

import numpy as np

import minidem
from minidem.core.atomic import replacing, to_disk
from minidem.core.checks import ADD, foreign, short_repr

FORMAT = 16             # the newest, in which clumps may be held
UNHELD = 15             # that is written where none is, so that earlier versions read it
OLDEST = 13             # that is read, written by 0.10 and 0.11


def write(path, settings, arrays):
    """Write `settings` (in types of JSON) and `arrays` (by name) to `path` atomically."""
    made_by = {"minidem": minidem.__version__, "numpy": np.__version__, "python": platform.python_version(),
               "machine": platform.machine()}
    content = {"settings": np.array(json.dumps({"made_by": made_by, **settings})), **arrays}
    with replacing(path) as temporary:
        with open(temporary, "wb") as file:
            try:
                np.savez(file, checksum=np.array(_checksum(content)), **content)
            except ValueError as error:     # raised by zipfile for a member left open by Ctrl-C
                raise (error.__context__ if isinstance(error.__context__, KeyboardInterrupt) else error)
        to_disk([temporary])        # before it replaces the last good file


def read(path):
    """(settings, arrays by name) of the file `path`. ValueError if it is damaged or not such a file."""
    with open(path, "rb") as file:
        if file.read(2) != b"PK":
            kind = foreign(path)
            raise ValueError(f"{path}: not a minidem checkpoint, which is an .npz file"
                             + (f", but {kind}; to continue from this state, {ADD}" if kind else ""))
        try:
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:          # without compression
                if sum(member.file_size for member in archive.zip.infolist()) > os.fstat(file.fileno()).st_size:
                    raise ValueError("its members are larger than the file")
                arrays = dict(archive)
            if not all(isinstance(array, np.ndarray) for array in arrays.values()):
                raise ValueError("a member is not an array")
        except Exception as error:      # of any type, depending on the damage
            raise ValueError(f"{path}: damaged or cut off ({type(error).__name__}: {error}); "
                             "take an earlier checkpoint") from None
    settings = _settings(path, arrays)
    if str(arrays.pop("checksum", "none")) != _checksum(arrays):
        raise ValueError(f"{path}: damaged, its checksum is another; take an earlier checkpoint")
    del arrays["settings"]
    return settings, arrays


def _settings(path, arrays):
    try:
        settings = json.loads(str(arrays["settings"]))
        found = settings["format"]
        if not isinstance(found, int):
            raise TypeError
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(f"{path}: an .npz file with {', '.join(sorted(arrays)) or 'nothing in it'}, but not a minidem "
                         f"checkpoint; to continue from another state, {ADD}") from None
    if not OLDEST <= found <= FORMAT:
        age, known = ("older", OLDEST) if found < OLDEST else ("newer", FORMAT)
        remedy = "load and save it with minidem 0.12, or " if found < OLDEST else ""
        raise ValueError(f"{path}: checkpoint of format {found}, which is {age} than the {known} that minidem "
                         f"{minidem.__version__} reads; {remedy}use the minidem that made it: "
                         f"{short_repr(settings.get('made_by', 'unknown'))}")
    return settings


def _checksum(arrays):
    """SHA-256 of names, types, shapes and bytes."""
    sum_ = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        sum_.update(f"{name} {array.dtype.str} {np.shape(arrays[name])} ".encode())
        sum_.update(array.reshape(-1).view(np.uint8))
    return sum_.hexdigest()
