"""Spheres of GSD files in freud; large files in freud and OVITO."""
import time

import numpy as np
import pytest
from trajectory_files import SINGLE, frames_of, needs_gsd

import minidem as md


@needs_gsd
def test_freud_finds_the_contacts(dimers_on_floor, tmp_path):
    freud = pytest.importorskip("freud")
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        trajectory(dimers_on_floor)
    [frame] = frames_of(tmp_path / "a.gsd")
    p = frame.particles
    spheres = p.typeid == p.types.index("template_0_sphere")
    query = freud.locality.AABBQuery(frame.configuration.box, p.position[spheres])
    pairs = query.query(p.position[spheres], {"r_max": 1.0, "exclude_ii": True}).toNeighborList()[:]
    body = p.body[spheres]
    found = {(int(i), int(j)) for i, j in pairs if body[i] < body[j]}
    contacts = dimers_on_floor.contacts()
    assert found == {(c["sphere_i"], c["sphere_j"]) for c in contacts if c["clump_j"] >= 0} != set()


@needs_gsd
@pytest.mark.slow
def test_large_trajectory(tmp_path):
    """1e5 spheres in frames that gsd, OVITO and freud read: radii, bodies, and the density far away from a sphere."""
    io, freud = pytest.importorskip("ovito.io"), pytest.importorskip("freud")
    rng = np.random.default_rng(0)
    grid = 1.0 + 1.5 * np.stack(np.meshgrid(*3 * [np.arange(37)], indexing="ij"), axis=-1).reshape(-1, 3)
    q = rng.standard_normal((len(grid), 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    sim = md.Simulation(md.Material(1e8, 0.1), walls=md.box((0, 0, 0), 3 * [1.5 * 37 + 0.5]), dt=1e-4)
    dimer = md.ClumpTemplate(centers=[(-0.3, 0, 0), (0.3, 0, 0)], radii=[0.4, 0.3], density=1000.0)
    sim.add_clumps(dimer, grid, q, rng.standard_normal((len(grid), 3)), scale=rng.uniform(0.8, 1.0, len(grid)))
    assert sim.n_spheres > 1e5
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        start = time.process_time()
        sim.run(30, every=10, callback=trajectory)
        print(f"{time.process_time() - start:.2f} s, {(tmp_path / 'a.gsd').stat().st_size / 1e6:.1f} MB")
    n, start = sim.n_clumps, time.process_time()
    data = io.import_file(str(tmp_path / "a.gsd")).compute(2)
    print(f"OVITO: {time.process_time() - start:.2f} s")
    np.testing.assert_allclose(data.particles["Radius"][n:], sim.sphere_radii, rtol=SINGLE)
    np.testing.assert_array_equal(data.particles["particles_body"][n:], sim.sphere_clump)
    frame = frames_of(tmp_path / "a.gsd")[2]
    inside = frame.particles.position[n:][np.abs(frame.particles.position[n:]).max(axis=1) < 15.0]
    rdf, start = freud.density.RDF(bins=60, r_max=12.0), time.process_time()
    rdf.compute((frame.configuration.box, frame.particles.position[n:]), query_points=inside, reset=True)
    print(f"freud: {time.process_time() - start:.2f} s")
    # The box has margins of 1/4 beside the grid.
    assert np.mean(rdf.rdf[-20:]) == pytest.approx((1.0 + 0.5 / 55.5) ** 3, rel=0.02)
