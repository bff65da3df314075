"""The dashpot with which a power law has the same restitution at any speed; for contact laws of users."""
import math

import numpy as np

from minidem.core.checks import positive


def damping(power: float, restitution: float) -> float:
    """Factor of the dashpot beside a normal force k d^p with which the restitution is e at any speed.

    The force of an overlap d that grows at the rate d' is k d^p + damping(p, e) sqrt(m k) d^((p - 1) / 2) d', with the
    effective mass m. With s^2 proportional to d^(p + 1) the equation of motion becomes that of a linear oscillator with
    the damping ratio zeta = -ln(e) / sqrt(pi^2 + ln(e)^2), and the factor is sqrt(2 (p + 1)) zeta. This holds if the
    contact ends with the overlap, and not where the force becomes attractive before. Q. Feng, arXiv 2603.27764; p = 1
    and 3/2 are the dashpots of `hooke-coulomb` and `hertz-mindlin`.

    Parameters
    ----------
    power : float
        p, greater than 0: 1 for linear springs, 3/2 for spheres.
    restitution : float
        e, greater than 0, at most 1.

    Returns
    -------
    float
        Without unit.

    Raises
    ------
    ValueError
        For arguments out of range.
    """
    return math.sqrt(2.0 * (positive("power", power) + 1.0)) * _checked_ratio(restitution)


def largest_overlap(power: float, restitution: float, stiffness: float, mass: float, speed: float) -> float:
    """Largest overlap [m] of two bodies that meet at a speed [m/s], with the dashpot of `damping`.

    Parameters
    ----------
    power, restitution : float
        As of `damping`.
    stiffness : float
        k of the force k d^p [N/m^p].
    mass : float
        Effective mass m_1 m_2 / (m_1 + m_2) [kg].
    speed : float
        Along the normal, when they touch [m/s].

    Returns
    -------
    float
        ((p + 1) m v^2 / (2 k))^(1 / (p + 1)), less for the energy that is dissipated until then [m].

    Raises
    ------
    ValueError
        For arguments out of range.
    """
    p, zeta = positive("power", power), _checked_ratio(restitution)
    left = math.exp(-zeta / math.sqrt(1.0 - zeta ** 2) * math.acos(zeta))       # of the speed, in the oscillator
    energy = 0.5 * positive("mass", mass) * (left * positive("speed", speed)) ** 2
    return ((p + 1.0) * energy / positive("stiffness", stiffness)) ** (1.0 / (p + 1.0))


def critical_step(power: float, restitution: float, stiffness: float, mass: float, speed: float) -> float:
    """Largest step [s] with which a contact is stable at the largest overlap of an impact.

    There the contact is stiffest: its frequency is w = sqrt(p k d^(p - 1) / m), and its damping ratio
    z = damping(p, e) / (2 sqrt(p)) at any overlap. A law of a user, whose dashpot has the velocity half a step before
    the force, is stable up to (2 / w) (sqrt(1 + z^2) - z), which this is. `hertz-mindlin`, `hooke-coulomb` and damped
    laws (`register`) are stable up to 2 / w. The bound is of one contact: several on a body add their stiffnesses. An
    accurate impact needs a tenth of it or less.

    Parameters
    ----------
    power : float
        p, at least 1. With less the contact is stiffest where it begins, and has no such step.
    restitution, stiffness, mass, speed : float
        As of `largest_overlap`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For arguments out of range.
    """
    if positive("power", power) < 1.0:
        raise ValueError(f"power = {power}: give at least 1")
    deepest, z = largest_overlap(power, restitution, stiffness, mass, speed), damping(power, restitution)
    z /= 2.0 * math.sqrt(power)
    frequency = math.sqrt(power * stiffness * deepest ** (power - 1.0) / mass)
    return 2.0 / frequency * (math.sqrt(1.0 + z * z) - z)


def damping_ratio(restitution):
    """The damping ratio of a linear oscillator with these coefficients of restitution, numbers or arrays."""
    loss = -np.log(restitution)
    return loss / np.hypot(np.pi, loss)


def _checked_ratio(restitution):
    if positive("restitution", restitution) > 1.0:
        raise ValueError(f"restitution = {restitution}: give at most 1")
    return float(damping_ratio(restitution))
