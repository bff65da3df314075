r"""Damped linear spring with Coulomb friction: one stiffness for all contacts, optional rolling resistance.

Normal force; of two spheres, the restitution :math:`e` is exact:

.. math::

   F = k d + c\, \dot d, \quad c = 2 \beta \sqrt{m^* k}, \quad \beta = \frac{-\ln(e)}{\sqrt{\pi^2 + \ln^2(e)}}

Tangential force, where :math:`k_t` is :math:`k` times ``tangential_stiffness``:

.. math::

   \boldsymbol T = -k_t \boldsymbol\xi, \quad \boldsymbol T_d = -x\, c\, \boldsymbol u_t, \quad
   \left|\boldsymbol T + \boldsymbol T_d\right| \le \mu L, \quad L = \max(F, 0)

Rolling resistance is as for ``hertz-mindlin``, with :math:`k_r = 2.25\, \mu_r^2 R^{*2} k`.

``plastic=walton-braun`` has the spring of Walton and Braun in place of spring and dashpot: loading with :math:`k`,
unloading with :math:`k / e^2`, so that several contacts at once have the restitution :math:`e`, too:

.. math::

   F = \max\left(\frac{k}{e^2} d - \left(\frac{k}{e^2} - k\right) d_{\max}, 0\right), \quad
   d_{\max}: \text{largest overlap of the contact so far}

``plastic=luding`` attracts as well, down to :math:`-k_c d` in the place of 0, where :math:`k_c` is :math:`k` times
``adhesive_stiffness``; :math:`d_{\max}` falls along this line.

Symbols and parameters as for ``hertz-mindlin``; "stiffness-ratio" is :math:`x = \sqrt{k_t / k}`. The stiffness does not
depend on a contact radius, so that all models of ``tangential`` are this one. The duration of a collision does not
depend on its speed. The elastic constants of the materials are not used. ``twisting=marshall``,
with :math:`a^2 = R^* d`, ``liquid=willett`` and ``bonds=parallel`` are as for ``hertz-mindlin``.
"""
from minidem.contact.friction import PARTS, REFERENCES, coefficient_rows, friction_law
from minidem.contact.parts.normal import HOOKE
from minidem.core.parameters import NonNegative, Positive


def coefficients(pair, values):
    """Coefficients (part.pxd) of pairs of materials."""
    stiffness, ratio = values["stiffness"], values["tangential_stiffness"]
    return coefficient_rows(pair, values, stiffness, 2.0 * stiffness ** 0.5, ratio * stiffness, ratio ** 0.5, stiffness)


LAWS = [friction_law(
    HOOKE, {"stiffness": Positive, "tangential_stiffness": Positive(2.0 / 7.0), "plastic": tuple(PARTS["plastic"]),
            "adhesive_stiffness": NonNegative(0.0)},
    {"stiffness": "Stiffness k of all contacts [N/m].", "tangential_stiffness": "Of friction, in units of k.",
     "plastic": "With walton-braun, loading with k and unloading with k/e^2 in place of the dashpot; luding attracts.",
     "adhesive_stiffness": "Of the attraction with plastic=luding, in units of k."},
    name="hooke-coulomb", title="damped linear spring with Coulomb friction",
    cites=("cundall1979discrete", *REFERENCES, "walton1986viscosity", "luding2008cohesive"), power=1.0,
    coefficients=coefficients, used_in="LAMMPS, LIGGGHTS, Yade, MercuryDPM")]
