"""Arguments of templates, materials and walls in every form that is accepted, and their values."""
import warnings
from math import pi, sqrt

import numpy as np
import pytest

from minidem.core.checks import unit_quaternions
from minidem.material import Material, effective_modulus, effective_shear_modulus
from minidem.templates.clump_template import ClumpTemplate
from minidem.walls import Plane, box

TWO = [[0, 0, 0], [1, 0, 0]]


def test_any_array_like():
    expected = ClumpTemplate(np.array(TWO, dtype=float), np.array([1.0, 0.5]))
    for centers, radii in [(TWO, [1, 0.5]), (tuple(map(tuple, TWO)), (1.0, 0.5)),
                           (np.array(TWO, dtype=np.int8), np.array([1, 0.5], dtype=np.float32)),
                           (np.array(TWO, dtype=float, order="F"), np.array([1, 7, 0.5, 7])[::2])]:
        clump = ClumpTemplate(centers, radii)
        assert np.array_equal(clump.inertia, expected.inertia) and clump.centers.flags.c_contiguous


def test_quaternions_are_normalised():
    with warnings.catch_warnings():
        warnings.simplefilter("error")                  # printed with seven digits: no warning
        q = unit_quaternions("orientation", [[0.5, 0.5, 0.5, 0.5], [0.7071068, 0.7071068, 0, 0]], 2)
        one = unit_quaternions("orientation", (0, 0, 0, 1), 3)
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 4 * np.finfo(float).eps
    assert np.array_equal(one, [[0, 0, 0, 1]] * 3)
    for tiny in (1e-200, 1e-9, 1e200):
        with pytest.warns(UserWarning, match=r"orientation\[1\].*1 of 2"):
            q = unit_quaternions("orientation", [[1, 0, 0, 0], [0, 3 * tiny, 0, 4 * tiny]], 2)
        assert q[1] == pytest.approx([0, 0.6, 0, 0.8], rel=4 * np.finfo(float).eps)


STEEL = Material(young=210e9, poisson=0.3)


def test_material_in_numbers():
    assert STEEL.shear_modulus == pytest.approx(210e9 / 2.6, rel=1e-15)
    assert STEEL.rayleigh_step(0.01, 7800) == pytest.approx(
        pi * 0.01 * sqrt(7800 * 2.6 / 210e9) / (0.1631 * 0.3 + 0.8766), rel=1e-15)
    assert STEEL.p_wave_step(0.01, 7800) == pytest.approx(0.01 * sqrt(7800 / 210e9), rel=1e-15)
    assert effective_modulus(STEEL, STEEL) == pytest.approx(210e9 / (2 * 0.91), rel=1e-15)
    rubber = Material(young=5e6, poisson=0.5)
    assert effective_modulus(STEEL, rubber) == effective_modulus(rubber, STEEL)
    assert effective_modulus(STEEL, rubber) == pytest.approx(1 / (0.91 / 210e9 + 0.75 / 5e6), rel=1e-15)
    first, second = Material(1e9, 0.2), Material(0.5e9, 0.2)       # of Dosta et al. 2024, 10.1016/j.cpc.2023.109066
    assert effective_shear_modulus(first, first) == pytest.approx(115740740.74, rel=1e-10)
    assert effective_shear_modulus(first, second) == pytest.approx(77160493.83, rel=1e-10)
    with pytest.raises(AttributeError):
        STEEL.young = 1.0


def test_planes_compare_by_value():
    same = Plane((0, 0, 1.0), np.array([0, 0, 1e-200]), Material(210e9, 0.3))
    assert Plane([0, 0, 1], [0, 0, 5], STEEL) == same
    assert Plane([0, 0, 0], [3, 0, 4]).normal == pytest.approx((0.6, 0, 0.8), rel=1e-15)
    assert hash(Plane([0, 0, 0], [0, 0, 1])) == hash(Plane([0, 0, 0], [0, 0, 2]))


def test_box_faces_inwards():
    low, high = np.array([-1.0, 2.0, -3.0]), np.array([4.0, 5.0, 6.0])
    walls = box(low, high, STEEL)
    normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    assert [list(wall.normal) for wall in walls] == normals
    assert all(wall.material is STEEL for wall in walls)
    distances = [np.dot((low + high) / 2 - wall.point, wall.normal) for wall in walls]
    assert distances == pytest.approx([2.5, 2.5, 1.5, 1.5, 4.5, 4.5], rel=1e-15)
