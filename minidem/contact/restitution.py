"""The dashpot with which a power law has the same restitution at any speed; for contact laws of users."""
import math

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
    return math.sqrt(2.0 * (positive("power", power) + 1.0)) * _ratio(restitution)


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
    p, zeta = positive("power", power), _ratio(restitution)
    left = math.exp(-zeta / math.sqrt(1.0 - zeta ** 2) * math.acos(zeta))       # of the speed, in the oscillator
    energy = 0.5 * positive("mass", mass) * (left * positive("speed", speed)) ** 2
    return ((p + 1.0) * energy / positive("stiffness", stiffness)) ** (1.0 / (p + 1.0))


def _ratio(restitution):
    """The damping ratio of a linear oscillator."""
    loss = -math.log(positive("restitution", restitution))
    if loss < 0.0:
        raise ValueError(f"restitution = {restitution}: give at most 1")
    return loss / math.hypot(math.pi, loss)
