"""Malformed clump files, mesh files and command lines: refused with the reason, or a valid result. Checkpoints are
in tests/restart."""
import io
import tempfile
from contextlib import redirect_stderr
from dataclasses import replace
from functools import cache
from pathlib import Path

import meshio
import numpy as np
import pytest
import rods_in_box

import minidem as md
from minidem import shapes
from minidem.scenarios.rotating_bodies import falling_fibres
from minidem.templates.triangle_mesh import TriangleMesh

pytestmark = pytest.mark.filterwarnings("ignore")
SCENARIOS = [rods_in_box.SCENARIO, falling_fibres.SCENARIO]


@pytest.fixture(params=[100, pytest.param(2500, marks=pytest.mark.slow)])
def generators(request):
    return map(np.random.default_rng, range(request.param))


def damaged(rng, good):
    """The bytes `good`, cut, flipped, repeated, with other bytes put in, or other numbers in the text; or noise."""
    if rng.random() < 0.1:
        return rng.bytes(rng.integers(200))
    data = bytearray(good)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(max(1, len(data))))
        kind = rng.choice(["cut", "flip", "insert", "remove", "repeat", "number"])
        if kind == "cut":
            del data[at:]
        elif kind == "flip" and data:
            data[at] ^= int(rng.integers(1, 256))
        elif kind == "insert":
            data[at:at] = rng.bytes(rng.integers(20))
        elif kind == "remove":
            del data[at:at + int(rng.integers(1, 20))]
        elif kind == "repeat":
            data[at:at] = data[at:at + 50]
        elif kind == "number":      # instead of a word
            words = bytes(data).split(b" ")
            words[at % len(words)] = NUMBERS[rng.integers(len(NUMBERS))]
            data = bytearray(b" ".join(words))
    return bytes(data)


NUMBERS = b"nan inf -inf 0 -1 -0.0 5e-324 -1e-300 1e60 1e160 -1e308 1e999 0x10 1_0 99999 99999999999999999999 x".split()
CLUMPS = [b"# x,y,z,r\n0.0, 0.0, 0.0, 1.0\n1.0, 0.0, 0.0, 0.5\n", b"x y z r\n0 0 0 1\r\n1 0 0 0.5\r\n",
          "\ufeff1;2;3;4 // é".encode()]


def read_or_refuse(read, path, data, *names):
    """What is read from the path with this content, or None for an error with its name or one of the names."""
    path.write_bytes(data)
    try:
        return read(path)
    except OSError as error:
        assert error.filename, error
    except ValueError as error:
        assert any(name in str(error) for name in (path.name, *names)), error
    return None


def test_clump_files(generators, tmp_path):
    for rng in generators:
        data = damaged(rng, CLUMPS[rng.integers(len(CLUMPS))])
        clump = read_or_refuse(md.ClumpTemplate.from_file, tmp_path / "clump.txt", data, "radii", "centers")
        assert clump is None or np.all(np.isfinite(clump.inertia) & (clump.inertia > 0)) and np.all(clump.radii > 0)


@cache
def meshes():
    """A tetrahedron in every format: (suffix, bytes of the file)."""
    solid, found = shapes.platonic_mesh("tetrahedron", 1.0), []
    with tempfile.TemporaryDirectory() as folder:
        for suffix, how in [("stl", {"binary": False}), ("stl", {"binary": True}), ("ply", {"binary": False}),
                            ("ply", {"binary": True}), ("obj", {})]:
            path = Path(folder, f"grain.{suffix}")
            meshio.Mesh(solid.vertices, {"triangle": solid.triangles}).write(path, **how)
            found.append((suffix, path.read_bytes()))
    return found


def test_mesh_files(generators, tmp_path):
    for rng in generators:
        suffix, data = meshes()[rng.integers(len(meshes()))]
        mesh = read_or_refuse(TriangleMesh.read, tmp_path / f"grain.{suffix}", damaged(rng, data), "vertices")
        assert mesh is None or mesh.volume > 0 and np.isfinite(mesh.moments).all() and np.isfinite(mesh.corners).all()


OPTIONS = ["--integrator", "--dt", "--time", "--seed", "--out", "--frames", "--threads", "--checkpoint-every",
           "--resume", "--quiet", "--compare", "--rods", "--box", "--fibres", "--bogus", "-x", "--"]
VALUES = ["0", "-1", "nan", "inf", "-inf", "1e-400", "1e999", "1e300", "1e-300", "x", "", " ", "1,2", "0x10", "1_0",
          "\u0663", "spiral", "spiral:inner=rk4", "omelyan:iterations=99999999999999999999", "omelyan:iterations=",
          "spiral:",
          ":", "a\0b", "3", "1e-4", "\udcff", "é" * 300, "/proc/x", "=", "--", "spiral,omelyan", "spiral,,"]


def test_command_lines(generators, tmp_path, monkeypatch):
    """Exit status 2 and nothing written, or options that a run could begin with. It does not begin here."""
    monkeypatch.chdir(tmp_path)
    for rng in generators:
        def word():
            option, value = OPTIONS[rng.integers(len(OPTIONS))], VALUES[rng.integers(len(VALUES))]
            return [option, value, f"{option}={value}"][rng.integers(3)]

        scenario, begun = replace(SCENARIOS[rng.integers(2)], name="x"), []
        object.__setattr__(scenario, "_execute", lambda *_: begun.append(1) or 0)
        with redirect_stderr(io.StringIO()) as errors:
            status = scenario.main([word() for _ in range(rng.integers(1, 7))] + ["--frames", "0"])
        assert status == 0 and begun or status == 2 and errors.getvalue().startswith("x: error: ")
        assert not list(tmp_path.iterdir())
