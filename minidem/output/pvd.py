"""Time series for ParaView: a .pvd file lists the frames and their times."""

from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from minidem.output import replace_text

_HEAD = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
_TAIL = "  </Collection>\n</VTKFile>\n"


class Pvd:
    """The series in the .pvd file `path`, rewritten atomically after every frame.

    Parameters
    ----------
    path : path
        Nothing is written before `write` or `add`.
    keep : callable, optional
        To continue a series: frames in the file for whose time [s] it returns true are kept. Default: none.

    Raises
    ------
    ValueError
        If the file to continue is not a series.
    """

    def __init__(self, path, keep=None):
        self.path = Path(path)
        self.frames = []        # (time, file name relative to the .pvd)
        if keep is not None and self.path.exists():
            try:
                listed = ElementTree.parse(self.path).getroot().iter("DataSet")
                frames = [(float(entry.attrib["timestep"]), entry.attrib["file"]) for entry in listed]
            except (ElementTree.ParseError, KeyError, ValueError) as error:
                raise ValueError(f"{self.path}: not a series of frames ({error}); "
                                 "remove it to begin another one") from None
            self.frames = [frame for frame in frames if keep(frame[0])]

    def add(self, time, file):
        """Append the frame `file` (a path inside the folder of the .pvd) at `time` [s], and write the file."""
        self.frames.append((float(time), Path(file).relative_to(self.path.parent).as_posix()))
        self.write()

    def write(self):
        """Write the file."""
        rows = [f'    <DataSet timestep="{time!r}" part="0" file={quoteattr(file)}/>\n'
                for time, file in self.frames]
        replace_text(self.path, _HEAD + "".join(rows) + _TAIL)
