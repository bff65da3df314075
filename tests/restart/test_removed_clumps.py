"""Equal bits where clumps are removed: threads, sorting, pieces of a run, restarts; ids over restarts."""
import copy
import pickle
from functools import cache

import numpy as np
import pytest
from settling_scene import CLUMP, ELASTIC, ROLLING, material_for, settling

import minidem as md
from minidem.output import npz_checksum

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
STATE = "ids", "position", "orientation", "velocity", "angular_velocity", "force", "torque", "template_index"
LAWS = [ROLLING, "hooke-coulomb:stiffness=1e5", "hertz", "hertz:onset=corrected"]
BEFORE, STEPS, STAGES = 2500, 40, 3
MULTISTAGE = next(name for name in md.rotation.available() if len(md.rotation.info(name).stages) > 1)


@cache
def moving(contact, rotation="spiral"):
    sim = settling(contact=contact, rotation=rotation, threads=1)
    sim.run(BEFORE)
    return sim


def victims(sim):
    """Ids of a clump in contact with others, its first neighbour, and three others."""
    contacts = sim.contacts()
    pair = contacts[contacts["clump_j"] >= 0][::7][0]
    rng = np.random.default_rng(sim.n_clumps)
    return sim.ids[np.unique([pair["clump_i"], pair["clump_j"], *rng.choice(sim.n_clumps, 3, replace=False)])]


def bits(sim):
    contacts, energies = sim.contacts(), np.array(list(vars(sim.energy()).values()), dtype=float)
    arrays = {name: np.array(getattr(sim, name)) for name in STATE}
    arrays |= {name: contacts[name] for name in contacts.dtype.names} | {"energies": energies}
    return {name: np.ascontiguousarray(values).tobytes() for name, values in arrays.items()}


def as_it_is(sim):
    return sim


def change(sim, between=as_it_is):
    """Removals, where a smaller clump replaces the first one, each with a run; `between` is called after each part."""
    for _ in range(STAGES):
        gone = victims(sim)
        place, orientation = (getattr(sim, name)[sim.ids == gone[0]] for name in ("position", "orientation"))
        sim.remove_clumps(gone)
        sim = between(sim)
        sim.add_clumps(sim.templates[0], place, orientation, scale=0.9)
        sim = between(sim)
        sim.run(STEPS)
        sim = between(sim)
    return sim


@cache
def undisturbed(contact, rotation="spiral"):
    return bits(change(copy.deepcopy(moving(contact, rotation))))


def through_file(threads, tmp_path):
    def reload(sim):
        sim.save(tmp_path / "state.npz")
        return md.Simulation.load(tmp_path / "state.npz", threads=threads)
    return reload


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("contact", LAWS)
def test_threads_and_restarts(contact, threads, tmp_path):
    sim = change(copy.deepcopy(moving(contact)), through_file(threads, tmp_path))
    assert sim.threads == threads and bits(sim) == undisturbed(contact)


@pytest.mark.parametrize("contact", LAWS)
def test_sorting_pieces_and_copies(contact):
    def disturb(sim):
        sim.run(0)
        sim.energy()
        sim.engine.loop.sort_clumps()
        return pickle.loads(pickle.dumps(sim))

    assert bits(change(copy.deepcopy(moving(contact)), disturb)) == undisturbed(contact)


def test_multistage_scheme(tmp_path):
    sim = change(copy.deepcopy(moving("hertz", MULTISTAGE)), through_file(3, tmp_path))
    assert bits(sim) == undisturbed("hertz", MULTISTAGE)


@pytest.mark.parametrize("contact", LAWS)
def test_clumps_far_away_keep_their_bits(contact):
    """Two piles far from each other: removals from the second one, of which some clumps are in contact."""
    sim = md.Simulation(material_for(contact), [md.Plane((0, 0, 0), (0, 0, 1))], contact=contact, dt=1e-4,
                        gravity=(0, 0, -9.81), threads=1)
    for x in 0.0, 5.0:
        sim.add_clumps(CLUMP, [[x + 0.01 * (k % 3), 0.01 * (k % 2), 0.06 + 0.09 * k] for k in range(8)])
    sim.run(1200)
    removed, count = copy.deepcopy(sim), 0
    for _ in range(8):
        pairs = removed.contacts()
        touching = pairs["clump_i"][(pairs["clump_i"] >= 8) & (pairs["clump_j"] >= 0)]
        removed.remove_clumps(removed.ids[touching[:1]])
        count += len(touching) > 0
        for steps in (0, STEPS):
            sim.run(steps)
            removed.run(steps)
            for name in STATE:
                assert np.array_equal(getattr(sim, name)[:8], getattr(removed, name)[:8])
    assert removed.n_clumps == 16 - count < 16


def test_ids_are_never_used_again(tmp_path):
    sim = md.Simulation(ELASTIC, dt=1e-6)
    assert len(sim.ids) == 0
    places = np.arange(5.0)[:, None] * [1.0, 0.0, 0.0]
    assert sim.add_clumps(CLUMP, places).tolist() == [0, 1, 2, 3, 4]
    sim.remove_clumps([4])
    sim = through_file(1, tmp_path)(sim)
    assert sim.add_clumps(CLUMP, places[:2] + 1.0).tolist() == [5, 6]
    sim.remove_clumps(sim.ids)
    assert sim.n_clumps == 0
    sim.run(3)
    sim = copy.deepcopy(through_file(1, tmp_path)(sim))
    assert sim.n_clumps == 0 and sim.add_clumps(CLUMP, places[:1]).tolist() == [7]
    assert sim.ids.tolist() == [7] and sim.ids.dtype == np.int64
    sim.run(3)


@pytest.mark.parametrize("ids, next_id", [([1, 0], 3), ([0, 0], 3), ([0, 3], 3), ([-1, 1], 3), ([0], 3), ([0, 1], 1)])
def test_forged_ids(ids, next_id, tmp_path):
    sim = md.Simulation(ELASTIC, dt=1e-6)
    sim.add_clumps(CLUMP, np.arange(3.0)[:, None] * [1.0, 0.0, 0.0])
    sim.remove_clumps([1])
    sim.save(tmp_path / "state.npz")
    settings, arrays = npz_checksum.read(tmp_path / "state.npz")
    npz_checksum.write(tmp_path / "state.npz", settings | {"next_id": next_id}, arrays | {"ids": np.array(ids)})
    with pytest.raises(ValueError, match="ids|next_id"):
        md.Simulation.load(tmp_path / "state.npz")
