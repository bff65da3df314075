"""The command `movie`, and md.movie for notebooks: an MP4 or GIF file of the frames of a run."""
import argparse
import base64
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from minidem.core.atomic import replacing
from minidem.core.keywords import by_keyword
from minidem.core.progress import Line
from minidem.output.frames import Frames
from minidem.output.vtu import Pvd, part_number
from minidem.render import read, require
from minidem.render.colour import SPEED, value_range, values
from minidem.render.scene import CAMERA, TUBE, Scene, bounds_of, checked_camera, middles
from minidem.scenario.options import Parser, at_least, positive, told

SAMPLES = 16                # frames that are read beforehand, for the range of the colours and the camera
# One palette per frame, so that no frames are kept in memory.
GIF = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"
ENCODERS = {".mp4": dict(codec="libx264", pix_fmt_out="yuv420p",
                         output_params=["-crf", "18", "-movflags", "+faststart", "-f", "mp4"]),
            ".gif": dict(codec="gif", pix_fmt_out="pal8", output_params=["-vf", GIF, "-f", "gif"])}


def parse(words):
    """Options of a command line; ValueError if invalid."""
    parser = Parser(prog="minidem movie", description=__doc__, epilog="Needs pyvista and imageio-ffmpeg; a display is "
                    "not needed.")
    parser.add_argument("folder", metavar="FOLDER", help="output folder of a scenario, or its .pvd file")
    parser.add_argument("--out", metavar="FILE", help="file to write, .mp4 or .gif (default: NAME.mp4 in FOLDER)")
    parser.add_argument("--size", type=size, default=(1280, 720), metavar="WxH", help="pixels (default: 1280x720)")
    parser.add_argument("--fps", type=positive, default=25.0, metavar="N",
                        help="pictures per second (default: %(default)g)")
    parser.add_argument("--seconds", type=positive, metavar="S",
                        help="duration of the movie: frames are repeated or left out (default: each frame once)")
    parser.add_argument("--every", type=at_least(1), default=1, metavar="N", help="take every N-th frame")
    parser.add_argument("--color", metavar="FIELD",
                        help="solid, clump, speed (of the clump), radius, or a field of the frames: velocity, "
                             "velocity_x, angular_velocity, template ... (default: speed); with --contacts force, "
                             "normal_force, tangential_force, overlap, sliding ... (default: force)")
    parser.add_argument("--contacts", action="store_true",
                        help="draw the contacts as tubes, coloured, in place of the spheres, which become "
                             "translucent. Diameters are proportional to the force; that which 1 %% of the contacts "
                             f"exceed has {TUBE:g} of the median length of the tubes, and larger ones have no more. "
                             "The run needs --contacts too")
    parser.add_argument("--colormap", metavar="NAME", help="colour map of matplotlib, such as plasma")
    parser.add_argument("--camera", type=told(checked_camera), default=CAMERA, metavar="A,E,Z",
                        help="azimuth and elevation in degrees, and zoom; or x, y, z for the view along an axis "
                             f"(default: {','.join(f'{number:g}' for number in CAMERA)})")
    parser.add_argument("--background", default="white", metavar="COLOUR", help="name or #rrggbb (default: white)")
    parser.add_argument("--transparent-walls", action="store_true",
                        help="draw all walls as glass (default: curved ones and meshes; of planes those behind the "
                             "spheres, and the edges)")
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    options = parser.parse_args(words)
    options.color = options.color or ("force" if options.contacts else SPEED)
    return options


def size(text):
    """Type of an option: WxH in pixels, both even as H.264 needs."""
    width, cross, height = text.partition("x")
    try:
        pixels = int(width), int(height)
    except ValueError:
        pixels = (0, 0)
    if not cross or min(pixels) < 16 or max(pixels) > 4096 or any(number % 2 for number in pixels):
        raise argparse.ArgumentTypeError(f"give two even numbers from 16 to 4096 as in 1280x720, not {text!r}")
    return pixels


def find_series(folder):
    """The .pvd file of a run."""
    path = Path(folder)
    if path.is_file() and path.suffix == ".pvd":
        return path
    if not path.is_dir():
        raise ValueError(f"there is no folder {path}; give the output folder of a run, such as results/rods_in_box")
    found = sorted(path.glob("*.pvd"))
    if len(found) == 1:
        return found[0]
    below = found or sorted(path.glob("*/*.pvd"))
    if below:
        raise ValueError(f"{path} has several series of frames; give one of {', '.join(map(str, below))}")
    raise ValueError(f"{path} has no frames (*.pvd); run the scenario with --frames 200")


def frame_list(series, options):
    """(time [s], files of the spheres, walls and contacts; None for one that there is not) of each picture."""
    listed = Pvd(series, keep=lambda time: True).frames
    spheres, walls, contacts = ({when: series.parent / file for when, file in listed if part_number(file) == part}
                                for part in range(3))
    frames = [(when, file, walls.get(when), contacts.get(when)) for when, file in spheres.items()][::options.every]
    if not frames:
        raise ValueError(f"{series} lists no frames; run the scenario with --frames 200")
    without = [when for when, _, _, file in frames if file is None]
    if options.contacts and without:
        raise ValueError(f"--contacts: {series} has no contacts at {len(without)} of {len(frames)} times, the first "
                         f"{without[0]:g} s; run the scenario with --contacts")
    if options.seconds:
        count = max(1, round(options.seconds * options.fps))
        frames = [frames[k] for k in np.linspace(0, len(frames) - 1, count).round().astype(int)]
    return frames


def write(frames, walls, path, options):
    """Render and encode frames; yields the number of pictures done. walls: mesh or None, for frames without."""
    ffmpeg = require("imageio_ffmpeg")
    chosen = [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, SAMPLES).astype(int))]
    sample = [read(spheres) for _, spheres, *_ in chosen]
    around = [walls, *(read(moved) for _, _, moved, _ in chosen if moved)]
    contacts = [middles(read(file)) for *_, file in chosen] if options.contacts else None
    coloured = contacts or sample
    values(coloured[0], options.color)          # checks the name
    scene = Scene(options.size, bounds_of(sample, around), value_range(coloured, options.color), options.color,
                  options.colormap, options.background, options.camera, options.transparent_walls, contacts)
    if walls is not None:
        scene.set_walls(walls)
    del sample, around, contacts, coloured
    digits = max(0, 2 - math.floor(math.log10(frames[-1][0] - frames[0][0] or 1.0)))
    with replacing(path) as temporary:
        encoder = ffmpeg.write_frames(str(temporary), options.size, fps=options.fps, macro_block_size=2,
                                      ffmpeg_log_level="error", quality=None, **ENCODERS[path.suffix])
        encoder.send(None)
        shown = None
        for k, (when, file, moved, contacts) in enumerate(frames):
            if file != shown:
                if moved:
                    scene.set_walls(read(moved))
                pixels = scene.draw(read(file), f"t = {when:.{digits}f} s",
                                    middles(read(contacts)) if options.contacts else None).tobytes()
                shown = file
            encoder.send(pixels)
            yield k + 1
        encoder.close()
    scene.close()


class Movie:
    """A movie in the file `path`; a notebook displays it as the last value of a cell, and keeps a copy."""

    def __init__(self, path: Path):
        self.path = path

    def __repr__(self):
        return f"Movie({str(self.path)!r})"

    def _repr_html_(self):
        data = base64.b64encode(self.path.read_bytes()).decode()
        if self.path.suffix == ".gif":
            return f'<img src="data:image/gif;base64,{data}" alt="movie">'
        return f'<video src="data:video/mp4;base64,{data}" controls autoplay loop muted></video>'


@by_keyword
def movie(frames: Frames | str | Path, path: str | Path | None = None, *, size: tuple[int, int] = (640, 480),
          fps: float = 25.0, seconds: float | None = None, every: int = 1, color: str | None = None,
          contacts: bool = False, camera: str | Sequence[float] = CAMERA, colormap: str | None = None,
          background: str = "white", transparent_walls: bool = False) -> Movie:
    """Write a movie of the frames of a run, which a notebook displays as the last value of a cell.

    Parameters
    ----------
    frames : Frames or path
        What has written the frames, their folder, or its file NAME.pvd.
    path : path, optional
        NAME.mp4, or NAME.gif. Default: NAME.mp4 beside NAME.pvd.
    size : (int, int)
        Width and height in pixels, even numbers.
    fps, seconds : float, optional
        Pictures per second, and duration of the movie [s]: frames are repeated or left out. Default: each frame once.
    every : int
        Take every `every`-th frame.
    color, contacts, camera, colormap, background, transparent_walls
        As of `show`; also an array of the frames. `contacts` needs frames that were written with contacts.

    Raises
    ------
    ValueError
        For arguments out of range, or without frames.
    ModuleNotFoundError
        Without pyvista or imageio-ffmpeg (extra `render`); the message has the command that installs them.
    """
    camera = camera if isinstance(camera, str) else ",".join(map(str, camera))
    given = {"out": path, "size": "x".join(map(str, size)), "fps": fps, "seconds": seconds, "every": every,
             "color": color, "camera": camera, "colormap": colormap, "background": background}
    options = parse([str(getattr(frames, "path", frames)), *["--contacts"] * contacts,
                     *["--transparent-walls"] * transparent_walls,
                     *(f"--{name}={value}" for name, value in given.items() if value is not None)])
    path, _, written = _prepared(options)
    for _ in written:
        pass
    return Movie(path)


def _prepared(options):
    """Path of the movie, its frames, and what `write` returns of them."""
    require()
    series = find_series(options.folder)
    path = Path(options.out or series.with_suffix(".mp4"))
    if path.suffix not in ENCODERS:
        raise ValueError(f"--out: {path} does not end in .mp4 or .gif")
    if not path.parent.is_dir():
        raise ValueError(f"--out: there is no folder {path.parent}")
    frames, walls = frame_list(series, options), series.parent / "walls.vtu"
    return path, frames, write(frames, read(walls) if walls.exists() else None, path, options)


def main(argv: Sequence[str]) -> int:
    """Run the command line; ValueError for bad arguments. Returns the exit status."""
    options = parse(argv)
    path, frames, written = _prepared(options)
    line = Line(options.quiet)
    for done in written:
        line.update(f"movie: {done} of {len(frames)} pictures", done / len(frames))
    line.close()
    if not options.quiet:
        print(f"{path}: {len(frames)} pictures, {len(frames) / options.fps:.3g} s, {path.stat().st_size / 1e6:.2g} MB")
    return 0
