"""Malformed clump files and mesh files: refused with the reason, or a valid result. Checkpoints are
in tests/restart."""
import tempfile
from functools import cache
from pathlib import Path

import meshio
import numpy as np
import pytest

import minidem as md
from minidem import shapes
from minidem.templates.triangle_mesh import TriangleMesh

pytestmark = pytest.mark.filterwarnings("ignore")


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
