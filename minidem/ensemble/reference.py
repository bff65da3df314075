"""Naming a function so that another process finds it: "module:function" or "path/script.py:function"."""

import importlib
import importlib.util
import sys
from pathlib import Path


def reference_to(function):
    """The reference of a function, or a reference that is given as text, checked.

    ValueError for a function that another process could not find (inside another one, in a notebook), and
    for text that leads to no function.
    """
    if isinstance(function, str):
        where, colon, name = function.rpartition(":")
        if not colon:
            raise ValueError(f"function = {function!r}: give 'module:function' or 'script.py:function'")
        if where.endswith(".py"):
            function = f"{Path(where).absolute()}:{name}"
        load(function)
        return function
    name, module = getattr(function, "__qualname__", "."), getattr(function, "__module__", None)
    if not name.isidentifier():
        raise ValueError(f"function = {function!r}: workers import it by its name; give a function that is "
                         "defined at the top level of a module or script")
    if module != "__main__" and getattr(sys.modules.get(module), name, None) is function:
        return f"{module}:{name}"
    script = Path(function.__code__.co_filename)
    if not script.is_file():
        raise ValueError(f"function = {function!r}: workers cannot import it from {script}; put it into a "
                         "file of its own")
    return f"{script.absolute()}:{name}"


def short(reference):
    """The reference without the folder of a script: the same on every machine."""
    where, _, name = reference.rpartition(":")
    return f"{Path(where).name if where.endswith('.py') else where}:{name}"


def load(reference):
    """The function; ValueError if there is none. A script finds its neighbours, as when it is run."""
    where, _, name = reference.rpartition(":")
    try:
        module = _run_script(where) if where.endswith(".py") else importlib.import_module(where)
        function = getattr(module, name)
    except (ImportError, OSError, AttributeError) as error:
        raise ValueError(f"function = {reference!r}: cannot be imported ({error})") from error
    if not callable(function):
        raise ValueError(f"function = {reference!r}: is {function!r}; name a function")
    return function


def _run_script(path):
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(f"_ensemble_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
