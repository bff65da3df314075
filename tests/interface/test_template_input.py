"""Invalid arguments of templates, materials, walls and free bodies, and the messages about them."""
import warnings
from math import inf, nan, pi, sqrt

import numpy as np
import pytest

from minidem import rotation, shapes
from minidem.core.checks import unit_quaternions
from minidem.material import Material, effective_modulus
from minidem.templates.clump_template import ClumpTemplate
from minidem.templates.triangle_mesh import TriangleMesh
from minidem.walls import Plane, box


def integrate(**changed):
    good = {"name": "spiral", "inertia": (1, 2, 3), "orientation": (1, 0, 0, 0), "angular_velocity": (0, 0, 1),
            "torque": (0, 0, 0), "dt": 1e-3, "steps": 3}
    return rotation.integrate(**(good | changed))


TWO = [[0, 0, 0], [1, 0, 0]]

# call -> parts of the message: the argument, the value (with its index), the remedy
REFUSED = [
    (lambda: ClumpTemplate([], []), ["centers", "shape", "(n, 3)"]),
    (lambda: ClumpTemplate(np.zeros((0, 3)), []), ["centers", "one sphere"]),
    (lambda: ClumpTemplate([0, 0, 0], [1]), ["centers", "(3,)", "(n, 3)"]),
    (lambda: ClumpTemplate([[0, 0, 0], [1, 0]], [1, 1]), ["centers", "lengths", "(n, 3)"]),
    (lambda: ClumpTemplate([["a", "b", "c"]], [1]), ["centers", "real numbers"]),
    (lambda: ClumpTemplate([[0, 0, None]], [1]), ["centers", "real numbers"]),
    (lambda: ClumpTemplate([[0, 0, 0], [0, nan, 0]], [1, 1]), ["centers[1, 1] = nan", "finite"]),
    (lambda: ClumpTemplate([[0, 0, 0], [0, 1e200, 0]], [1, 1]), ["centers[1, 1] = 1e+200", "units"]),
    (lambda: ClumpTemplate(TWO, [1]), ["radii", "(1,)", "one radius per centre"]),
    (lambda: ClumpTemplate(TWO, [[1], [1]]), ["radii", "(2, 1)", "(n,)"]),
    (lambda: ClumpTemplate(TWO, [1, 0]), ["radii[1] = 0.0", "greater than 0"]),
    (lambda: ClumpTemplate(TWO, [1, 1e100]), ["radii[1] = 1e+100", "units"]),
    (lambda: ClumpTemplate(TWO, [1, 1], density=0), ["density = 0", "greater than 0"]),
    (lambda: ClumpTemplate(TWO, [1, 1], density="heavy"), ["density = 'heavy'", "real numbers"]),
    (lambda: ClumpTemplate(TWO, [1, 1], density=[1, 2]), ["density", "(2,)"]),
    (lambda: ClumpTemplate([[0, 0, 0]], [1e-70]), ["radii", "units"]),
    (lambda: ClumpTemplate([[0, 0, 0]], [1e50], density=1e200), ["density", "units"]),
    (lambda: Material(young=0, poisson=0.2), ["young = 0", "greater than 0"]),
    (lambda: Material(young=1e9, poisson=-1), ["poisson = -1", "above -1"]),
    (lambda: Material(young=1e9, poisson=0.51), ["poisson = 0.51", "up to 0.5"]),
    (lambda: Material(young=1e9, poisson=nan), ["poisson = nan", "finite"]),
    (lambda: Material(1e9, 0.2).rayleigh_step(-1, 2500), ["radius = -1", "greater than 0"]),
    (lambda: Plane([0, 0], [0, 0, 1]), ["point", "(2,)", "(3,)"]),
    (lambda: Plane([0, 0, nan], [0, 0, 1]), ["point[2] = nan", "finite"]),
    (lambda: Plane([0, 0, 0], [0, 0, 0]), ["normal", "side"]),
    (lambda: Plane([0, 0, 0], [0, 0, 1], material="steel"), ["material = 'steel'", "Material"]),
    (lambda: box([0, 0, 0], [1, 0, 1]), ["high[1] = 0.0", "low"]),
    (lambda: box([-1e70, 0, 0], [1, 1, 1]), ["low[0] = -1e+70", "units"]),
    (lambda: Material(young=1e-70, poisson=0.2), ["young = 1e-70", "units"]),
    (lambda: effective_modulus(Material(1e9, 0.2), 1e9), ["second = 1000000000.0", "Material"]),
    (lambda: ClumpTemplate(TWO, [1, 1], density=10 ** 400), ["density", "real numbers"]),
    (lambda: ClumpTemplate(TWO, ["x" * 10 ** 6] * 2), ["radii", "..."]),
    (lambda: shapes.rod(1.0, 0.1, 2 ** 40), ["spheres = 1099511627776", "1000000"]),
    (lambda: shapes.rod(1.0, 0.6, 3), ["length = 1.0", "2 radius"]),
    (lambda: shapes.rod(0.06, 0.01, 1), ["spheres = 1", "at least 2"]),
    (lambda: shapes.fibre(1.0, 0.1, 3, bend=7), ["bend = 7", "radians"]),
    (lambda: shapes.platonic(["cube"], 1.0), ["kind = ['cube']", "octahedron"]),
    (lambda: shapes.surface_of_revolution([(0, 1)]), ["profile", "(1, 2)", "two points"]),
    (lambda: shapes.surface_of_revolution([(0, 1), (1, -1)]), ["profile[1, 1] = -1.0"]),
    (lambda: shapes.surface_of_revolution([(0, 0), (1, 1), (0, 0)]), ["profile", "volume"]),
    (lambda: shapes.surface_of_revolution([(0, 1e15), (1, 1), (2, 0)]), ["profile", "2", "1e+15", "6000"]),
    (lambda: shapes.surface_of_revolution([(0, 1), (1e40, 1)]), ["profile", "1e+40", "6000"]),
    (lambda: shapes.surface_of_revolution([(0, 0), (0.025, 0), (0.025, 5900), (0.055, 5900), (0.055, 0), (1, 0)]),
     ["profile", "thin"]),
    (lambda: shapes.surface_of_revolution([(0, 1), (1, 1), (1, 0.5), (-1, 0.5)]), ["profile", "downward"]),
    (lambda: TriangleMesh([(0, 0, 0)], np.nan), ["triangles", "()", "whole numbers"]),
    (lambda: TriangleMesh([(0, 0, 0)], [[0, 1], [0]]), ["triangles", "whole numbers"]),
    (lambda: integrate(name="runge"), ["'runge'", "rk4"]),
    (lambda: integrate(inertia=(1, 0, 1)), ["inertia[0, 1] = 0.0", "greater than 0"]),
    (lambda: integrate(inertia=[(1, 2, 3), (1, 2)]), ["inertia", "lengths"]),
    (lambda: integrate(orientation=(0, 0, 0, 0)), ["orientation", "zero"]),
    (lambda: integrate(angular_velocity=[(1, 2, 3)] * 2, orientation=[(1, 0, 0, 0)] * 3),
     ["angular_velocity", "(2, 3)"]),
    (lambda: integrate(angular_velocity=(0, nan, 0)), ["angular_velocity[0, 1] = nan"]),
    (lambda: integrate(torque=(0, 1e70, 0)), ["torque[0, 1] = 1e+70", "units"]),
    (lambda: integrate(torque=lambda t, q, w: (0, 1)), ["torque(t, q, w)", "(2,)", "(3,)"]),
    (lambda: integrate(torque=lambda t, q, w: (0, inf, 1)), ["torque(t, q, w)[1] = inf"]),
    (lambda: integrate(dt=0), ["dt = 0", "greater than 0"]),
    (lambda: integrate(steps=-1), ["steps = -1", "whole number"]),
    (lambda: integrate(steps=10 ** 30), ["steps", "up to"]),
    (lambda: integrate(sync="no"), ["sync = 'no'", "True or False"]),
    (lambda: unit_quaternions("orientation", [[1, 0, 0, 0], [0, 0, 0, 0]], 2),
     ["orientation[1, 0] = 0.0", "zero"]),
    (lambda: unit_quaternions("orientation", [[1, 0, 0]], 1), ["orientation", "(1, 3)", "(1, 4)"]),
]


@pytest.mark.parametrize("call, parts", REFUSED)
def test_refused(call, parts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as error:
            call()
    for part in parts:
        assert part in str(error.value)


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


def test_material_in_numbers():
    steel = Material(young=210e9, poisson=0.3)
    assert steel.shear_modulus == pytest.approx(210e9 / 2.6, rel=1e-15)
    assert steel.rayleigh_step(0.01, 7800) == pytest.approx(
        pi * 0.01 * sqrt(7800 * 2.6 / 210e9) / (0.1631 * 0.3 + 0.8766), rel=1e-15)
    assert steel.p_wave_step(0.01, 7800) == pytest.approx(0.01 * sqrt(7800 / 210e9), rel=1e-15)
    assert effective_modulus(steel, steel) == pytest.approx(210e9 / (2 * 0.91), rel=1e-15)
    rubber = Material(young=5e6, poisson=0.5)
    assert effective_modulus(steel, rubber) == effective_modulus(rubber, steel)
    assert effective_modulus(steel, rubber) == pytest.approx(1 / (0.91 / 210e9 + 0.75 / 5e6), rel=1e-15)
    with pytest.raises(AttributeError):
        steel.young = 1.0


def test_planes_compare_by_value():
    steel = Material(young=210e9, poisson=0.3)
    same = Plane((0, 0, 1.0), np.array([0, 0, 1e-200]), Material(210e9, 0.3))
    assert Plane([0, 0, 1], [0, 0, 5], steel) == same
    assert Plane([0, 0, 0], [3, 0, 4]).normal == pytest.approx((0.6, 0, 0.8), rel=1e-15)
    assert hash(Plane([0, 0, 0], [0, 0, 1])) == hash(Plane([0, 0, 0], [0, 0, 2]))


def test_box_faces_inwards():
    low, high = np.array([-1.0, 2.0, -3.0]), np.array([4.0, 5.0, 6.0])
    steel = Material(young=210e9, poisson=0.3)
    walls = box(low, high, steel)
    normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    assert [list(wall.normal) for wall in walls] == normals
    assert all(wall.material is steel for wall in walls)
    middle = (low + high) / 2
    distances = [np.dot(middle - wall.point, wall.normal) for wall in walls]
    assert distances == pytest.approx([2.5, 2.5, 1.5, 1.5, 4.5, 4.5], rel=1e-15)
