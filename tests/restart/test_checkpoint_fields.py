"""The table of the arrays of checkpoints: each is written, must have its type and shape, and is missed."""
import copy
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from bit_systems import ONSET, begun, brake
from reference_walls import MINDLIN, ROLLING

import minidem as md
from minidem.output import checkpoint
from minidem.output.checkpoint_fields import FIELDS

ROUGH = md.Material(3e7, 0.2, restitution=0.6, friction=0.4, rolling_friction=0.1)


def driven(name, law, steps):
    sim = begun(name, law)
    sim.add_force(brake)
    sim.run(steps)
    return sim


@pytest.fixture(scope="module")
def packed():
    sims = driven("images of a floor", ROLLING, 3), driven("press", MINDLIN, 3), driven("stretched box", ROLLING, 100)
    sims[1].set_motion([0], free="xy", turns="z")
    found = [checkpoint.pack(sim) for sim in sims]
    assert all(len(arrays["history_spheres"]) > 0 for _, arrays in found)
    found.append(checkpoint.pack(driven("in contact", ONSET, 1)))
    assert len(found[-1][1]["onsets"]) > 0
    found[0][1]["fractures"] = np.array([[0, 1, 0, 0, 3, 1e-3], [1, -1, 0, 0, 4, 2e-3]])    # of a law with bonds
    return found


def unpacked(settings, arrays):
    sim = checkpoint.unpack(settings, arrays, md.Simulation)
    sim.add_force(brake)
    return sim


def of(field, packed):
    """The first of them with an array."""
    return next(one for one in packed if field.name in one[1])


FINITE = [field for field in FIELDS if field.dtype is np.float64 and field.finite]
FIELD = pytest.mark.parametrize("field", FIELDS, ids=[field.name for field in FIELDS])


@FIELD
def test_one_array_missing(field, packed):
    """Refused by name, unless the table says what then holds."""
    settings, arrays = of(field, packed)
    others = {name: array for name, array in arrays.items() if name != field.name}
    if field.missing is not None and field.name != "history_spheres":
        unpacked(settings, others).run(3)
    else:
        name = "history_records" if field.name == "history_spheres" else field.name
        with pytest.raises(ValueError, match=name):
            unpacked(settings, others)


def test_a_contact_of_a_sphere_with_itself(packed):
    settings, arrays = packed[1]
    spheres = arrays["history_spheres"].copy()
    spheres[-1] = spheres[-1, 0]
    with pytest.raises(ValueError, match="history_spheres.*ascending"):
        unpacked(settings, arrays | {"history_spheres": spheres})


@FIELD
@pytest.mark.parametrize("change", [
    lambda a: a.astype(np.float32), lambda a: a.astype("U9"), lambda a: np.append(a.reshape(-1), a.reshape(-1)[:1]),
    lambda a: np.concatenate([a, a[:1]]), lambda a: a[None]], ids=["float32", "text", "flat", "longer", "deeper"])
def test_another_type_or_shape(field, change, packed):
    settings, arrays = of(field, packed)
    with pytest.raises(ValueError):
        unpacked(settings, arrays | {field.name: change(arrays[field.name])})


@pytest.mark.parametrize("field", FINITE, ids=[field.name for field in FINITE])
def test_not_finite(field, packed):
    settings, arrays = of(field, packed)
    changed = arrays[field.name].copy()
    changed.flat[0] = np.nan
    with pytest.raises(ValueError, match=f"{field.name}.* = nan: give finite numbers only"):
        unpacked(settings, arrays | {field.name: changed})


@pytest.mark.parametrize("changes, words", [
    *(({"ids": np.array(ids)}, "ids") for ids in ((1, 0, 2), (0, 0, 2), (0, 2, 4), (-1, 1, 2), (0, 1))),
    ({"next_id": 2}, "ids|next_id"),
    *(({"material_index": np.array(indices, dtype)}, said) for indices, dtype, said in (
        ((0, 9, 0), np.int32, r"material_index\[1\] = 9: there are 3 materials"),
        ((0, -1, 0), np.int32, r"material_index\[1\] = -1"),
        ((0, 0), np.int32, r"shape \(2,\): give int32 of shape \(n_clumps = 3\)"),
        ((0, 0, 0), float, "is float64 of shape"))),
    *(({"scale": np.array(values)}, f"scale.*{said}") for values, said in (
        ([1.0, 0.0, 1.0], "greater than 0"), ([1.0, 1.0, -1.0], "greater than 0"), ([1.0, 1.0], "shape"),
        ([np.nan, 1.0, 1.0], "finite"), ([1e-100, 1.0, 1.0], "double precision"))),
    ({"shift": np.zeros((2, 3), dtype=np.int64)}, r"shift .* is int64 of shape \(2, 3\): give"),
    ({"shift": np.zeros((3, 3))}, "shift .* is float64 .*: give int64 of shape"),
    ({"periodic": [[0.0] * 3, [0.1] * 3, [True] * 3]}, "the periodic box is 0.1 m long along x"),
    ({"periodic": [[0.0] * 3, [9.0] * 3, [True, False]]}, "periodic: axes")])
def test_values_that_no_simulation_has(changes, words):
    """Of clumps of several materials, scales and box lengths, of which one was removed."""
    ball, materials = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05]), [replace(ROUGH, friction=f) for f in (0.1, 0.2, 0.4)]
    pairs = [md.Pair(a, b, restitution=0.5, friction=0.2, rolling_friction=0.1) for a, b in combinations(materials, 2)]
    sim = md.Simulation(materials[0], dt=1e-6, contact="hertz-mindlin:rolling=epsd", pairs=pairs,
                        periodic=((0.0,) * 3, (9.0,) * 3, (True,) * 3))
    for k, material in enumerate(materials):
        sim.add_clumps(ball, (3.0 * k + 40.0, 1.0, 1.0), material=material, scale=1.0 + 0.1 * k)
    sim.remove_clumps(sim.add_clumps(ball, (3.0, 5.0, 5.0)))
    settings, arrays = checkpoint.pack(sim)
    assert settings["next_id"] == 4 and checkpoint.unpack(settings, arrays, md.Simulation).scale.tolist() == [
        1.0, 1.1, 1.2]
    settings |= {name: value for name, value in changes.items() if name in settings}
    arrays |= {name: value for name, value in changes.items() if name not in settings}
    with pytest.raises(ValueError, match=words):
        checkpoint.unpack(settings, arrays, md.Simulation)


@pytest.mark.parametrize("name", ["rotation", "materials", "walls", "step_count", "callback_due", "fields"])
def test_one_setting_missing(name, packed):
    settings, arrays = packed[0]
    with pytest.raises(KeyError, match=f"'{name}'"):            # `load` says that it is missing
        unpacked({key: value for key, value in settings.items() if key != name}, arrays)


def test_a_run_does_not_change_what_was_packed():
    sim = driven("images of a floor", ROLLING, 3)
    settings, arrays = checkpoint.pack(sim)
    kept = copy.deepcopy((settings, arrays))
    sim.run(50)
    assert settings == kept[0] and all(np.array_equal(array, kept[1][name]) for name, array in arrays.items())
