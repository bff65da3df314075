r"""Damped linear spring with Coulomb friction: one stiffness for all contacts, optional rolling resistance.

Normal force; of two spheres, the restitution :math:`e` is exact:

.. math::

   F = k d + c\, \dot d, \quad c = 2 \beta \sqrt{m^* k}, \quad \beta = \frac{-\ln(e)}{\sqrt{\pi^2 + \ln^2(e)}}

Tangential force, where :math:`k_t` is :math:`k` times ``tangential_stiffness``:

.. math::

   \boldsymbol T = -k_t \boldsymbol\xi, \quad \boldsymbol T_d = -x\, c\, \boldsymbol u_t, \quad
   \left|\boldsymbol T + \boldsymbol T_d\right| \le \mu L, \quad L = \max(F, 0)

Rolling resistance is as for ``hertz-mindlin``, with :math:`k_r = 2.25\, \mu_r^2 R^{*2} k`.

Symbols and parameters as for ``hertz-mindlin``; "stiffness-ratio" is :math:`x = \sqrt{k_t / k}`. The stiffness does not
depend on a contact radius, so that all models of ``tangential`` are this one. The duration of a collision does not
depend on its speed. The elastic constants of the materials are not used. ``bonds=parallel`` is as for
``hertz-mindlin``.
"""
from minidem.contact.friction import REFERENCES, coefficient_rows, friction_law
from minidem.contact.parts.normal import HOOKE
from minidem.core.parameters import Positive


def coefficients(pair, values):
    """Coefficients (part.pxd) of pairs of materials."""
    stiffness, ratio = values["stiffness"], values["tangential_stiffness"]
    return coefficient_rows(pair, values, stiffness, 2.0 * stiffness ** 0.5, ratio * stiffness, ratio ** 0.5, stiffness)


LAWS = [friction_law(
    HOOKE, {"stiffness": Positive, "tangential_stiffness": Positive(2.0 / 7.0)},
    {"stiffness": "Stiffness k of all contacts [N/m].", "tangential_stiffness": "Of friction, in units of k."},
    name="hooke-coulomb", title="damped linear spring with Coulomb friction",
    cites=("cundall1979discrete", *REFERENCES), power=1.0, coefficients=coefficients,
    used_in="LAMMPS, LIGGGHTS, Yade, MercuryDPM")]
