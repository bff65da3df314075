"""Coarse-grained fields: arguments, files for ParaView, tables."""
import numpy as np
import pytest

import minidem as md
from minidem.analysis.coarse import UNITS, Fields


@pytest.fixture
def fields(dimers_on_floor):
    fields = Fields((2, 2, 0), (4, 4, 2.5), (3, 2, 5), 0.4)
    fields.measure(dimers_on_floor)
    return fields


def vtk_image(path):
    reader = pytest.importorskip("vtkmodules.vtkIOXML").vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    assert not reader.GetErrorCode()
    return reader.GetOutput()


def test_vti_read_back(fields, tmp_path):
    fields.write_vti(tmp_path / "fields.vti")
    image, cells = vtk_image(tmp_path / "fields.vti"), (3, 2, 5)
    assert image.GetDimensions() == (4, 3, 6)
    np.testing.assert_allclose(image.GetBounds(), (2, 4, 2, 4, 0, 2.5))
    data = image.GetCellData()
    assert [data.GetArrayName(k) for k in range(data.GetNumberOfArrays())] == list(UNITS)
    for cell in np.ndindex(cells):
        number, center = cell[0] + 3 * (cell[1] + 2 * cell[2]), [axis[k] for axis, k in zip(fields.centers, cell)]
        np.testing.assert_allclose(np.reshape(image.GetCell(number).GetBounds(), (3, 2)).mean(axis=1), center)
        for name in UNITS:
            np.testing.assert_array_equal(data.GetArray(name).GetTuple(number), getattr(fields, name)[cell].ravel())



@pytest.mark.parametrize("high, cells", [((4, 2, 2.5), (3, 1, 5)), ((2, 2, 2.5), (1, 1, 5)), ((2, 2, 0), (1, 1, 1))])
def test_vti_of_a_plane_line_point(dimers_on_floor, tmp_path, high, cells):
    fields = Fields((2, 2, 0), high, cells, 0.4)
    fields.measure(dimers_on_floor)
    fields.write_vti(tmp_path / "fields.vti")
    image = vtk_image(tmp_path / "fields.vti")
    assert image.GetNumberOfCells() == np.prod(cells)
    values = [image.GetCellData().GetArray("density").GetValue(k) for k in range(np.prod(cells))]
    np.testing.assert_array_equal(values, fields.density.ravel(order="F"))


def test_csv_read_back(fields, tmp_path):
    fields.write_csv(tmp_path / "fields.csv")
    table = np.genfromtxt(tmp_path / "fields.csv", delimiter=",", names=True)
    assert table.dtype.names[:7] == ("x", "y", "z", "density", "momentum_x", "momentum_y", "momentum_z")
    for name, column in fields.columns().items():
        np.testing.assert_array_equal(table[name], column)
    np.testing.assert_array_equal(table["z"].reshape(3, 2, 5)[1, 0], fields.centers[2])
    np.testing.assert_array_equal(table["contact_stress_zx"].reshape(3, 2, 5), fields.contact_stress[..., 2, 0])
    assert [len(axis) for axis in fields.edges] == [4, 3, 6]
    assert repr(fields).endswith("cells [3, 2, 5], width [0.4, 0.4, 0.4] m, 1 samples>")


def test_empty_cells(dimers_on_floor):
    """Nothing is there: no mass, no stress, and no velocity."""
    fields = Fields((8, 8, 8), (9, 9, 9), (2, 2, 2), 0.1)
    fields.measure(dimers_on_floor)
    assert not fields.density.any() and not fields.contact_stress.any() and not fields.kinetic_stress.any()
    assert np.isnan(fields.velocity).all() and np.isnan(fields.temperature).all()
    fields.measure(md.Simulation(md.Material(1e7, 0.2), dt=1e-5))
    assert fields.samples == 2 and not fields.density.any()


@pytest.mark.parametrize("change, words", [
    ({"width": 1e300}, r"width\[0\] = 1e.300: stay"), ({"low": (-1e300, 0, 0)}, r"low\[0\] = -1e.300: stay"),
    ({"low": (0, 0)}, r"low has shape \(2,\)"),
    ({"high": (1, -1, 1)}, r"high\[1\] = -1.0: give high at or above low = \[0.0, 0.0, 0.0\]"),
    ({"cells": (1, 2)}, r"cells has shape \(2,\)"),
    ({"cells": (1, 0, 2)}, r"cells\[1\] = .*: give a whole number, 1 or greater"),
    ({"cells": (1, 1.5, 2)}, r"cells\[1\] = .*: give a whole number"),
    ({"high": (1, 0, 1)}, r"cells\[1\] = 2: along an axis with low = high there is one; give 1"),
    ({"width": -0.1}, r"width\[0\] = -0.1: give a length above 0"),
    ({"width": (0.1, 0.1)}, "width has shape"),
    ({"high": (1, 0, 1), "cells": (1, 1, 1), "width": (0.1, 0, 0)}, r"width\[1\] = 0.0: give a length above 0, or 0 "
     "for no smoothing along an axis with low < high")])
def test_refused_arguments(change, words):
    with pytest.raises(ValueError, match=words):
        Fields(**{"low": (0, 0, 0), "high": (1, 1, 1), "cells": (2, 2, 2), "width": 0.1} | change)


def test_refused_boxes_and_files(fields, tmp_path):
    sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-5, periodic=((0, 0, 0), (1, 1, 1), (True, False, True)))
    for call, message in (
            (lambda: Fields((0, 0, 0), (1, 1, 2), (1, 1, 1), 0.1).measure(sim), r"high\[2\] = 2.0: stay within the p"),
            (lambda: Fields((0, 0, 0), (1, 1, 1), (1, 1, 1), (0.1, 0.2, 0.2)).measure(sim),
             r"width\[2\] = 0.2: the kernel reaches 3 widths, at most half .* sixth of"),
            (lambda: fields.write_vti(tmp_path / "fields.vtu"), ".vti"),
            (lambda: fields.write_csv(tmp_path / "fields.txt"), ".csv"),
            (lambda: Fields((0, 0, 0), (1, 1, 1), (1, 1, 1), 0.1).write_csv(tmp_path / "fields.csv"),
             r"samples = 0: no field yet; call measure\(sim\)")):
        with pytest.raises(ValueError, match=message):
            call()
