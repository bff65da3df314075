"""Packages of the extra `render`, imported when they are needed."""
import importlib

from minidem.core.interpreter import this_python


def require(name="pyvista"):
    """The module of this name; ModuleNotFoundError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"pictures and movies need the package {error.name}; install it with\n"
                                  f"    {this_python()} -m pip install pyvista imageio-ffmpeg") from None
