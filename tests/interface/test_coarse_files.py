"""Coarse-grained fields: files for ParaView, tables."""
import numpy as np
import pytest

import minidem as md
from minidem.analysis.coarse import UNITS, Fields


def measured(sim, high, cells):
    fields = Fields((2, 2, 0), high, cells, 0.4)
    fields.measure(sim)
    return fields


def vtk_image(path):
    reader = pytest.importorskip("vtkmodules.vtkIOXML").vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    assert not reader.GetErrorCode()
    return reader.GetOutput()


@pytest.mark.parametrize("high, cells", [((4, 4, 2.5), (3, 2, 5)), ((4, 2, 2.5), (3, 1, 5)), ((2, 2, 2.5), (1, 1, 5)),
                                         ((2, 2, 0), (1, 1, 1))], ids=["volume", "plane", "line", "point"])
def test_vti_read_back(high, cells, dimers_on_floor, tmp_path):
    fields = measured(dimers_on_floor, high, cells)
    fields.write_vti(tmp_path / "fields.vti")
    image, flat = vtk_image(tmp_path / "fields.vti"), np.equal((2, 2, 0), high)
    assert image.GetDimensions() == tuple(np.array(cells) + ~flat)
    np.testing.assert_allclose(image.GetBounds(), np.ravel([(2, 2, 0), high], order="F"))
    data = image.GetCellData()
    assert [data.GetArrayName(k) for k in range(data.GetNumberOfArrays())] == list(UNITS)
    for number, backwards in enumerate(np.ndindex(cells[::-1])):
        cell = backwards[::-1]
        center = [axis[k] for axis, k in zip(fields.centers, cell)]
        np.testing.assert_allclose(np.reshape(image.GetCell(number).GetBounds(), (3, 2)).mean(axis=1), center)
        for name in UNITS:
            np.testing.assert_array_equal(data.GetArray(name).GetTuple(number), getattr(fields, name)[cell].ravel())


def test_csv_read_back(dimers_on_floor, tmp_path):
    fields = measured(dimers_on_floor, (4, 4, 2.5), (3, 2, 5))
    fields.write_csv(tmp_path / "fields.csv")
    table = np.genfromtxt(tmp_path / "fields.csv", delimiter=",", names=True)
    assert table.dtype.names[:7] == ("x", "y", "z", "density", "momentum_x", "momentum_y", "momentum_z")
    for name, column in fields.columns().items():
        np.testing.assert_array_equal(table[name], column)
    np.testing.assert_array_equal(table["z"].reshape(3, 2, 5)[1, 0], fields.centers[2])
    np.testing.assert_array_equal(table["contact_stress_zx"].reshape(3, 2, 5), fields.contact_stress[..., 2, 0])
    assert repr(fields).endswith("cells [3, 2, 5], width [0.4, 0.4, 0.4] m, 1 samples>")


def test_empty_cells(dimers_on_floor):
    """Nothing is there: no mass, no stress, and no velocity."""
    fields = Fields((8, 8, 8), (9, 9, 9), (2, 2, 2), 0.1)
    fields.measure(dimers_on_floor)
    assert not fields.density.any() and not fields.contact_stress.any() and not fields.kinetic_stress.any()
    assert np.isnan(fields.velocity).all() and np.isnan(fields.temperature).all()
    fields.measure(md.Simulation(md.Material(1e7, 0.2), dt=1e-5))
    assert fields.samples == 2 and not fields.density.any()
