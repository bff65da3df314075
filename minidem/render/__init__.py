"""Pictures and movies with pyvista (extra `render`), also without a display.

scene.py draws spheres, walls, contacts and legends; movie.py the frames of a run, show.py a simulation in a notebook.
pyvista is imported when a picture is drawn.
"""
import importlib
from pathlib import Path

from minidem.core.interpreter import this_python


def require(name="pyvista"):
    """The module of this name; ModuleNotFoundError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"pictures and movies need the package {error.name}; install it with\n"
                                  f"    {this_python()} -m pip install pyvista imageio-ffmpeg k3d") from None


def read(path):
    """Spheres, walls or contacts of a .vtu file; ValueError if it is missing or damaged."""
    if not Path(path).is_file():
        raise ValueError(f"there is no file {path}")
    try:
        return require().read(path)
    except RuntimeError as error:
        raise ValueError(f"{path}: {error}") from None
