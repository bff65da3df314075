"""Clump files, mesh files, checkpoints and command lines with anything in them: a refusal, or a sound result."""
import io
import pickle
import tempfile
from contextlib import redirect_stderr
from dataclasses import replace
from functools import cache
from pathlib import Path

import falling_fibres
import meshio
import numpy as np
import rods_in_box
import scenes
from hypothesis import strategies as st
from malformed import BAD_NUMBERS, malformed, refused, refused_or

import minidem as md
from minidem import shapes
from minidem.output import npz_checksum
from minidem.templates.triangle_mesh import TriangleMesh

SCENARIOS = [rods_in_box.SCENARIO, falling_fibres.SCENARIO]


@st.composite
def damaged(draw, good):
    """The bytes `good`, cut, flipped, doubled, with other bytes put in, or other numbers in the text."""
    data = bytearray(draw(st.sampled_from(good)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.sampled_from(["cut", "flip", "insert", "remove", "repeat", "number"]))
        if kind == "cut":
            del data[at:]
        elif kind == "flip" and data:
            data[at] ^= draw(st.integers(1, 255))
        elif kind == "insert":
            data[at:at] = draw(st.binary(max_size=20))
        elif kind == "remove":
            del data[at:at + draw(st.integers(1, 20))]
        elif kind == "repeat":
            data[at:at] = data[at:at + 50]
        elif kind == "number":      # instead of a word
            words = bytes(data).split(b" ")
            words[at % len(words)] = draw(st.sampled_from(NUMBERS))
            data = bytearray(b" ".join(words))
    return bytes(data)


NUMBERS = [str(value).encode() for value in BAD_NUMBERS if isinstance(value, (int, float))]
NUMBERS += [b"1e999", b"0x10", b"1_0", b"99999"]
CLUMPS = [b"# x,y,z,r\n0.0, 0.0, 0.0, 1.0\n1.0, 0.0, 0.0, 0.5\n", b"x y z r\n0 0 0 1\r\n1 0 0 0.5\r\n",
          "\ufeff1;2;3;4 // é".encode()]


@malformed(9, data=st.one_of(st.binary(max_size=100), st.text(max_size=100).map(str.encode), damaged(CLUMPS)))
def test_clump_files(folder, data):
    path = folder / "clump.txt"
    path.write_bytes(data)
    clump = refused_or(lambda: md.ClumpTemplate.from_file(path), "clump.txt", "radii", "centers")
    assert clump is None or np.isfinite(clump.inertia).all() and (clump.inertia > 0).all() and (clump.radii > 0).all()


@cache
def meshes():
    """A tetrahedron in every format: suffix -> bytes of files."""
    solid, found = shapes.platonic_mesh("tetrahedron", 1.0), {}
    with tempfile.TemporaryDirectory() as folder:
        for suffix, how in [("stl", {"binary": False}), ("stl", {"binary": True}), ("ply", {"binary": False}),
                            ("ply", {"binary": True}), ("obj", {})]:
            path = Path(folder, f"grain.{suffix}")
            meshio.Mesh(solid.vertices, {"triangle": solid.triangles}).write(path, **how)
            found.setdefault(suffix, []).append(path.read_bytes())
    return found


@st.composite
def mesh_files(draw):
    suffix = draw(st.sampled_from(sorted(meshes())))
    return suffix, draw(st.one_of(st.binary(max_size=200), damaged(meshes()[suffix])))


@malformed(9, file=mesh_files())
def test_mesh_files(folder, file):
    suffix, data = file
    path = folder / f"grain.{suffix}"
    path.write_bytes(data)
    mesh = refused_or(lambda: TriangleMesh.read(path), f"grain.{suffix}", "vertices")
    assert mesh is None or mesh.volume > 0 and np.isfinite(mesh.moments).all() and np.isfinite(mesh.corners).all()


class Canary:
    """Unpickling it leaves a file."""

    def __reduce__(self):
        return Path.touch, (Path("sang"),)


def content(path):
    settings, arrays = npz_checksum.read(path)
    return settings, {name: array.tobytes() for name, array in arrays.items()}


@cache
def good_checkpoint():
    """(bytes, settings, arrays) of a run under way."""
    sim = scenes.rods_in_box(seed=1, n=3).simulation(rotation="omelyan", threads=1)
    sim.run(10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state.npz")
        sim.save(path)
        return path.read_bytes(), *npz_checksum.read(path)


def foreign(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


FOREIGN = [
    b"", b"PK", b"PK\x03\x04" + bytes(100), pickle.dumps(Canary()), foreign(a=np.arange(3)),
    foreign(settings=np.array([Canary()], dtype=object)), foreign(settings=np.array('{"format": 3}')),
    foreign(settings=np.array('{"format": 1, "made_by": 7}')), foreign(settings=np.array("[" * 10000)),
    foreign(settings=np.arange(3)),
]


@malformed(9, data=st.one_of(st.sampled_from(FOREIGN), st.binary(max_size=300),
                             st.deferred(lambda: damaged([good_checkpoint()[0]]))))
def test_checkpoints(folder, data):
    """A damaged file is refused, or nothing of what counts was hit: the state is then the saved one, bit by bit."""
    path = folder / "state.npz"
    path.write_bytes(data)
    sim = refused_or(lambda: md.Simulation.load(path), "state.npz")
    assert not (folder / "sang").exists()
    if sim is not None:
        damaged_one = content(path)
        sim.save(path)
        _, settings, arrays = good_checkpoint()
        assert damaged_one == content(path) == (settings, {name: array.tobytes() for name, array in arrays.items()})


JSON = st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9)),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner))


@st.composite
def forgeries(draw):
    """Settings and arrays of a checkpoint, one of them replaced or missing, or of other values or shape."""
    _, settings, arrays = good_checkpoint()
    settings, arrays = dict(settings), dict(arrays)
    inside = draw(st.sampled_from([settings, arrays]))
    name = draw(st.sampled_from(sorted(inside)))
    if draw(st.booleans()):
        del inside[name]
    elif inside is settings:
        settings[name] = draw(JSON)
    else:
        array = arrays[name].copy()
        change = draw(st.sampled_from(["value", "shape", "type", "rows"]))
        if change == "value" and array.size:
            array.reshape(-1)[draw(st.integers(0, array.size - 1))] = draw(st.sampled_from(
                [np.nan, -1, 0, 2, 1e300] if array.dtype.kind == "f" else [-1, 0, 2, 100]))
        arrays[name] = {"value": array, "shape": array.reshape(-1), "type": array.astype("U9"),
                        "rows": np.repeat(np.atleast_1d(array), 2, axis=0)}[change]
    return settings, arrays


@malformed(8, forged=forgeries())
@np.errstate(all="ignore")
def test_forged_checkpoints(folder, forged):
    """With a right checksum: refused, or something that runs, or ends with a clear exception."""
    path = folder / "state.npz"
    try:
        npz_checksum.write(path, *forged)
    except (TypeError, ValueError):
        return
    sim = refused_or(lambda: md.Simulation.load(path, threads=1), "state.npz")
    if sim is not None:
        try:
            sim.run(3)
        except FloatingPointError as error:
            assert "step" in str(error)
        except ValueError as error:
            assert "add_force" in str(error)


OPTIONS = ["--integrator", "--dt", "--time", "--seed", "--out", "--frames", "--threads", "--checkpoint-every",
           "--resume", "--quiet", "--compare", "--rods", "--box", "--fibres", "--bogus", "-x", "--"]
VALUES = ["0", "-1", "nan", "inf", "-inf", "1e-400", "1e999", "1e300", "1e-300", "x", "", " ", "1,2", "0x10", "1_0",
          "\u0663", "spiral", "spiral:inner=rk4", "omelyan:iterations=99999999999999999999", "omelyan:iterations=",
          "spiral:",
          ":", "a\0b", "3", "1e-4", "\udcff", "é" * 300, "/proc/x", "=", "--", "spiral,omelyan", "spiral,,"]


@malformed(5, scenario=st.sampled_from(SCENARIOS),
           words=st.lists(st.one_of(st.sampled_from(OPTIONS), st.sampled_from(VALUES), st.text(max_size=5),
                                    st.builds("{}={}".format, st.sampled_from(OPTIONS), st.sampled_from(VALUES))),
                          min_size=1, max_size=6))
def test_command_lines(folder, scenario, words):
    """Status 2 and nothing written, or a run that could begin; which it does not here."""
    before = set(folder.rglob("*"))
    if "-h" in words or any(word.startswith("--h") for word in words):
        return
    scenario = replace(scenario, name="x")
    begun = []
    object.__setattr__(scenario, "_execute", lambda *_: begun.append(1) or 0)
    errors = io.StringIO()
    with redirect_stderr(errors):
        status = scenario.main([*words, "--frames", "0"])
    assert status in (0, 2) and set(folder.rglob("*")) == before
    assert status == 0 and begun or errors.getvalue().startswith("x: error: ")
    refused.extend([errors.getvalue()] * (status == 2))
