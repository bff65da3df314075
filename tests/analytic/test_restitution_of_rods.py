"""Rods on a wall, and durations of impacts: the tables of guide/restitution.md."""
from math import exp, gamma, hypot, log, pi, sqrt

import compare_rods
import pytest
from examples import in_one_line, rows_of
from scipy.integrate import solve_ivp

import minidem as md

PAGE = "guide/restitution.md"
RODS = rows_of(PAGE, r"(\d+)° \| ([\d.]+) \| (.*) \| [\d.]+ \| [\d.]+", 10)     # without the columns of LAMMPS
DURATIONS = rows_of(PAGE, r"([\d.]+) \| (\d\.\d\d\d) \| (\d\.\d\d\d) \| (\d\.\d\d\d) \| (\d\.\d\d\d)", 4)
RATIO = log(2.0) / hypot(pi, log(2.0))      # damping ratio at 0.5


def damped(ratio):
    return exp(-pi * ratio / sqrt(1.0 - ratio ** 2))


@pytest.mark.parametrize("angle, mass, values", RODS)
def test_rods_on_a_wall(angle, mass, values):
    """The restitution of the contact point, of the material or with too much damping, and the energy that follows."""
    angle = int(angle)
    part = compare_rods.mass_ratio(angle)
    assert float(mass) == pytest.approx(part, abs=5e-4)
    shared, single, clump = (compare_rods.of_minidem(angle, word) for word in compare_rods.MASSES)
    assert [*shared, single[0], *clump] == pytest.approx([float(value) for value in values.split("|")], abs=6e-4)
    if angle > 0:
        beside = damped(RATIO / sqrt(part))
        assert shared == single == pytest.approx((0.5, 1.0 - 0.75 * part), abs=6e-4)
        assert clump == pytest.approx((beside, 1.0 - part * (1.0 - beside ** 2)), abs=6e-4)
    else:
        ones = sum(1.0 / sqrt(1.0 + compare_rods.ROD.mass * (2e-3 * k) ** 2 / compare_rods.ROD.inertia.max())
                   for k in range(-2, 3))
        for found, beside in ((shared, 0.5), (single, damped(RATIO * ones / sqrt(5.0))),
                              (clump, damped(RATIO * sqrt(5.0)))):
            assert found == pytest.approx((beside, beside ** 2), abs=6e-4)


def test_the_table_without_lammps(run_tool, monkeypatch):
    monkeypatch.setenv("PATH", "")
    done = run_tool("compare_rods")
    assert (done.returncode, done.stderr) == (0, "") and "lammps: skipped" in done.stdout
    assert done.stdout.splitlines()[2].split() == ["10", *RODS[1][1].split(), *"0.500 0.737 0.500 0.737".split(),
                                                   *RODS[1][2].split(" | ")[3:]]


def test_rods_with_friction(monkeypatch):
    for friction in (0.3, 1.0):
        monkeypatch.setattr(compare_rods, "FRICTION", friction)
        found = [compare_rods.of_minidem(angle, "shared")[0] for angle in compare_rods.ANGLES]
        assert f"{friction} {'the rods of the table have e_c ' * (friction == 0.3)}from {min(found):.3f} to " \
               f"{max(found):.3f}" in in_one_line(PAGE)


@pytest.mark.parametrize("p, constant, factors", [(float(p), float(c), factors) for p, c, *factors in DURATIONS])
def test_durations(p, constant, factors):
    q = 1.0 / (p + 1.0)
    assert constant == pytest.approx(2.0 * sqrt(pi) * gamma(1.0 + q) / gamma(0.5 + q), abs=5e-4)

    def end(e):
        """Of the motion with k = m = v = 1."""
        def motion(t, y):
            d = max(y[0], 0.0)
            return y[1], -d ** p - md.contact.damping(p, e) * d ** (0.5 * (p - 1.0)) * y[1]

        def parted(t, y):
            return y[0] if t > 0.1 else 1.0
        parted.terminal, parted.direction = True, -1
        return solve_ivp(motion, (0.0, 60.0), (0.0, 1.0), events=parted, rtol=1e-10, atol=1e-13).t_events[0][0]

    assert end(1.0) == pytest.approx(constant * md.contact.largest_overlap(p, 1.0, 1.0, 1.0, 1.0), rel=1e-3)
    for e, factor in zip((0.9, 0.5, 0.1), factors):
        assert end(e) / end(1.0) == pytest.approx(float(factor), abs=6e-4)
