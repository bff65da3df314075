"""References by which another process imports a function: "module:function" or "path/script.py:function"."""

import importlib.util
import inspect
import sys
from pathlib import Path

loading: list = []      # references being imported


def reference_to(function):
    """The reference of a function, or of the decorated one that has its name; a reference as text is checked.

    ValueError for a function that another process cannot import (a local function, a notebook), or an invalid text.
    """
    if isinstance(function, str):
        where, colon, name = function.rpartition(":")
        if not colon:
            raise ValueError(f"function = {function!r}: give 'module:function' or 'script.py:function'")
        if where.endswith(".py"):
            function = f"{Path(where).absolute()}:{name}"
        load(function)
        return function
    names, name = _where(function) if callable(function) else (None, None)
    if name is None:
        raise ValueError(f"function = {function!r}: workers import it by its name; give a function that is "
                         "defined at the top level of a module or script, or its name, 'module:function'")
    module, script = names["__name__"], names.get("__file__")
    if module == "__main__" and names.get("__package__") and names["__spec__"]:
        return f"{names['__spec__'].name}:{name}"       # python -m package.study, with relative imports
    if module != "__main__" and names is vars(sys.modules.get(module, object)):
        return f"{module}:{name}"
    if script is None or not Path(script).is_file():
        raise ValueError(f"function = {function!r}: workers cannot import it from {script or 'a session'}; put it "
                         "into a file of its own")
    return f"{Path(script).absolute()}:{name}"


def _where(function):
    """(namespace of a module or script, the name in it that is bound to this object), or (None, None)."""
    own = getattr(function, "__qualname__", None)
    module = sys.modules.get(getattr(function, "__module__", None))
    # A script need not be in sys.modules, but the function refers to its namespace.
    for names in (getattr(module, "__dict__", {}), getattr(inspect.unwrap(function), "__globals__", {})):
        for name in (own, *names):
            if isinstance(name, str) and name.isidentifier() and names.get(name) is function:
                return names, name
    return None, None


def short(reference):
    """The reference without the folder of a script, the same on every machine."""
    where, _, name = reference.rpartition(":")
    return f"{Path(where).name if where.endswith('.py') else where}:{name}"


def load(reference):
    """Import the function of a reference; ValueError if it fails. A script can import from its folder, as when run."""
    where, _, name = reference.rpartition(":")
    loading.append(reference)
    try:
        if where.endswith(".py"):
            sys.path.insert(0, str(Path(where).parent))
            spec = importlib.util.spec_from_file_location(f"_ensemble_{Path(where).stem}", where)
            module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(where)
        function = getattr(module, name)
    except (Exception, SystemExit) as error:            # any, raised by the code of the module
        raise ValueError(f"function = {reference!r}: cannot be imported ({type(error).__name__}: {error})") from error
    finally:
        loading.pop()
    if not callable(function):
        raise ValueError(f"function = {reference!r}: is {function!r}; name a function")
    return function
