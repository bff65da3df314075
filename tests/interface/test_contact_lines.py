"""Contacts as lines, read back with meshio and VTK."""
from types import SimpleNamespace

import meshio
import numpy as np
import pytest
from rods_in_box import SCENARIO as RODS

import minidem as md
from minidem.output import vtu
from minidem.render.movie import frame_list


@pytest.mark.usefixtures("without_pictures")
def test_contacts_of_a_scenario(tmp_path):
    """They are part 2 of the series, and no frames of a movie, but belong to them."""
    assert RODS.main(["--time", "0.05", "--frames", "6", "--quiet", "--out", str(tmp_path), "--contacts"]) == 0
    series = tmp_path / "rods_in_box.pvd"
    listed = vtu.Pvd(series, keep=lambda time: True).frames
    assert len(listed) == 12 and all((tmp_path / file).exists() for _, file in listed)
    assert [vtu.part_number(file) for _, file in listed] == 6 * [0, 2]
    assert series.read_text().count('part="2"') == 6
    frames = frame_list(series, SimpleNamespace(every=1, seconds=None, contacts=True))
    assert [(when, file.name) for when, file, *_ in frames] == [(when, file[7:]) for when, file in listed[::2]]
    assert [(walls, file.name) for _, _, walls, file in frames] == [(None, file[7:]) for _, file in listed[1::2]]


@pytest.mark.parametrize("between", ["clumps", "spheres"])
def test_contacts_as_lines(between, dimers_on_floor, tmp_path):
    sim = dimers_on_floor
    sim.write_contacts(tmp_path / "a.vtu", between)
    mesh, contacts = meshio.read(tmp_path / "a.vtu"), sim.contacts()
    assert len(contacts) >= 4 and mesh.cells[0].type == "line" and contacts["sliding"].any()
    data = {name: values[0] for name, values in mesh.cell_data.items()}
    np.testing.assert_allclose(np.hypot(data["normal_force"], data["tangential_force"]), data["force"], rtol=1e-12)
    np.testing.assert_allclose(data["force"], np.linalg.norm(contacts["force"], axis=1), rtol=1e-12)
    for name in ("overlap", "sliding", "clump_i", "clump_j"):
        np.testing.assert_array_equal(data[name], contacts[name])
    centers = sim.position if between == "clumps" else sim.sphere_centers()
    for line, contact in zip(mesh.cells[0].data, contacts, strict=True):
        j = contact[f"{between[:-1]}_j"]
        np.testing.assert_array_equal(mesh.points[line[0]], centers[contact[f"{between[:-1]}_i"]])
        np.testing.assert_array_equal(mesh.points[line[1]], contact["point"] if j < 0 else centers[j])


@pytest.mark.parametrize("between", ["clumps", "spheres"])
def test_lines_in_a_periodic_box_are_short(between, tmp_path):
    """They begin at a clump in the box, whole as in a frame, and end at the image that it touches."""
    dimer = md.ClumpTemplate(centers=[(-0.3, 0, 0), (0.3, 0, 0)], radii=[0.5, 0.5], density=1000.0)
    sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-4, periodic=((0, 0, 0), (5, 3, 3), (True, True, False)))
    sim.add_clumps(dimer, [(0.2, 1, 1), (8.61, 1, 1)])      # the image of the second at -1.39
    sim.write_contacts(tmp_path / "a.vtu", between)
    sim.write_vtu(tmp_path / "spheres.vtu")
    mesh, frame = meshio.read(tmp_path / "a.vtu"), meshio.read(tmp_path / "spheres.vtu")
    assert len(mesh.cells[0].data) == 1 and mesh.cell_data["force"][0] > 0.0
    x = {"clumps": (0.2, -1.39), "spheres": (-0.1, -1.09)}[between]
    np.testing.assert_allclose(mesh.points, [(x[0], 1, 1), (x[1], 1, 1)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(frame.point_data["clump_center"][:, 0], [0.2, 0.2, 3.61, 3.61], rtol=0, atol=1e-12)


def test_lines_between_other_things(dimers_on_floor, tmp_path):
    with pytest.raises(ValueError, match="between = 'walls': give one of 'clumps', 'spheres'"):
        dimers_on_floor.write_contacts(tmp_path / "a.vtu", "walls")


def test_file_without_contacts_opens_in_vtk(rod, tmp_path):
    vtk = pytest.importorskip("vtk")
    sim = md.Simulation(md.Material(1e9, 0.1), dt=1e-5)
    sim.add_clumps(rod.template, [(0, 0, 0)])
    sim.write_contacts(tmp_path / "a.vtu")
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(tmp_path / "a.vtu"))
    reader.Update()
    assert reader.GetErrorCode() == 0 and reader.GetOutput().GetNumberOfCells() == 0
