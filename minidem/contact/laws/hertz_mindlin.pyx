r"""Damped Hertz contact with Mindlin friction, Coulomb's limit, and rolling resistance as an option.

Normal force, where :math:`e` is the restitution at any speed:

.. math::

   \begin{split}
   F &= \tfrac43 E^* a\, d + c\, \dot d, \quad a = \sqrt{R^* d}, \quad
     c = \sqrt5\, \beta \sqrt{m^* k}, \quad k = \tfrac43 E^* a \\
   \beta &= \frac{-\ln(e)}{\sqrt{\pi^2 + \ln^2(e)}}
   \end{split}

Tangential force, a spring :math:`\boldsymbol T` and a dashpot :math:`\boldsymbol T_d`:

.. math::

   \boldsymbol T_d = -x\, c\, \boldsymbol u_t, \quad
   \left|\boldsymbol T + \boldsymbol T_d\right| \le \mu L, \quad L = \max(F, 0)

Beyond the limit the sum has this length, and :math:`\boldsymbol T` is what :math:`\boldsymbol T_d` leaves of it. The
spring, by ``tangential``:

* ``rescale``: :math:`\mathrm d \boldsymbol T = -8 G^* a\, \mathrm d \boldsymbol s` while the contact grows,
  :math:`\mathrm d (\boldsymbol T / a) = -8 G^*\, \mathrm d \boldsymbol s` while it shrinks
* ``mindlin``: :math:`\boldsymbol T = -8 G^* a\, \boldsymbol\xi`, as in LIGGGHTS, MFiX, EDEM; creates energy where a
  contact grows at a given :math:`\boldsymbol\xi`
* ``mindlin-rescale``: as ``mindlin``, and :math:`\boldsymbol\xi` shrinks with the contact radius, as `mindlin_rescale`
  of LAMMPS; ``mindlin-force``: :math:`\mathrm d \boldsymbol T = -8 G^* a\, \mathrm d \boldsymbol s`, as `mindlin/force`
* ``linear``: :math:`\boldsymbol T = -k_t \boldsymbol\xi`, :math:`k_t` = ``tangential_stiffness`` [N/m] for all contacts

Rolling resistance, a couple :math:`\boldsymbol M` and its dashpot :math:`\boldsymbol M_d`:

.. math::

   \begin{split}
   \mathrm d \boldsymbol M &= -k_r\, \mathrm d \boldsymbol\theta, \quad
     k_r = 2.25\, \mu_r^2 R^{*2} \cdot 2 E^* a, \quad
     \boldsymbol M_d = -2 \eta \sqrt{I_r k_r}\, \dot{\boldsymbol\theta} \\
   \left|\boldsymbol M + \boldsymbol M_d\right| &\le \mu_r R^* L
   \end{split}

The elastic constants [Pa]:

.. math::

   E^* = \left(\sum \frac{1 - \nu^2}{E}\right)^{-1}, \quad G^* = \left(\sum \frac{2 (2 - \nu) (1 + \nu)}{E}\right)^{-1}

:math:`R^*`: effective radius [m]; :math:`m^*`: effective mass [kg]; :math:`d`: overlap [m]; :math:`\boldsymbol s`,
:math:`\boldsymbol\xi`: relative displacement of the contact points in a step, and since they stick [m];
:math:`\boldsymbol\theta`: relative rotation.

``tangential`` is the model. ``tangential_damping`` is :math:`x`, or "stiffness-ratio": :math:`\sqrt{4 G^* / E^*}`, as
in EDEM and LIGGGHTS. :math:`m^*` is the mass that a push at the contact point feels when the contact begins, so that a
single contact of clumps rebounds with :math:`e`. The contacts of two bodies share it (``mass=shared``), so that several
at once rebound with :math:`e` as well (FRICTION.md). With ``mass=single`` each takes it alone, and they rebound with
less; ``mass=clump`` takes the clumps' masses without rotation, as in LAMMPS. ``limit_damping=yes`` clips attraction
before lift-off; the restitution is then larger than :math:`e`. ``friction_limit=magnitude`` has
:math:`L = \left|F\right|`, so that friction acts while the damped force attracts, as in LAMMPS. ``rolling=epsd`` adds
rolling resistance, the elastic-plastic spring-dashpot model C of Ai et al., with the damping :math:`\eta` =
``rolling_damping`` and the factor :math:`f` = ``mobilised_damping`` of the dashpot beyond the limit;
``rolling=constant`` has their model A, the couple :math:`\mu_r R^* L` against the rotation. Without one of them
``rolling_friction`` is not read. FRICTION.md has the time levels and the energy.

``sliding=static`` has the coefficient ``static_friction`` in place of :math:`\mu` until a contact slides.

``cohesion=jkr`` has the elastic adhesive contact of Johnson, Kendall and Roberts with the ``adhesion`` :math:`w` of
materials and pairs,

.. math::

   \begin{split}
   F &= \tfrac43 E^* \frac{a^3}{R^*} - \sqrt{8 \pi w E^* a^3} + c\, \dot d \\
   d &= \frac{a^2}{R^*} - \sqrt{\frac{2 \pi w a}{E^*}}
   \end{split}

from touch to tear-off at a gap, and :math:`L = \max(F + 3 \pi w R^*, 0)`, twice the pull-off force more (Thornton
1991). Restitution comes from the dashpot alone. COHESION.md has the energy.

``twisting=marshall`` has a couple :math:`Q` with a dashpot :math:`Q_d` about the normal, by Marshall 2009, with the
stiffness :math:`k_t` of the tangential spring [N/m] and the relative rotation :math:`\theta_n` about the normal:

.. math::

   \mathrm d Q = -\tfrac12 k_t a^2\, \mathrm d \theta_n, \quad Q_d = -\tfrac12 x\, c\, a^2 \dot\theta_n, \quad
   \left|Q + Q_d\right| \le \tfrac23 a\, \mu L

``liquid=willett`` has a liquid bridge of the ``bridge_volume`` :math:`V` of the pair, which forms at touch, with the
pull of Willett et al. 2000 up to the rupture distance :math:`S_c` of Lian et al. 1993,

.. math::

   F = \frac{4 \pi R^* \gamma \cos\theta}{1 + 1.05\, x + 2.5\, x^2}, \quad x = S \sqrt{2 R^* / V}, \quad
   S_c = (1 + \theta / 2)\, V^{1/3}

where :math:`S` is the gap, or 0, :math:`\gamma` = ``surface_tension`` and :math:`\theta` = ``contact_angle``.

``cohesion=dmt`` has the constant attraction of Derjaguin, Muller and Toporov, :math:`-2 \pi w R^*` beside Hertz's
repulsion, from touch to lift-off.

``bonds=parallel`` has bonds of ``Simulation.bonds.add`` beside contact and friction, up to a gap of ``bond_range``
times :math:`R^*`: parallel bonds of Potyondy and Cundall 2004 (10.1016/j.ijrmms.2004.09.011).
"""
from math import sqrt

from minidem.contact.friction import PARTS, REFERENCES, coefficient_rows, friction_law
from minidem.contact.parts.normal import HERTZ
from minidem.core.parameters import Positive


def coefficients(pair, values):
    """Coefficients (part.pxd) of pairs of materials."""
    stiffness, given = 4.0 / 3.0 * pair["modulus"], values["tangential_stiffness"]
    if (values["tangential"] == "linear") != (given != "none"):
        raise ValueError(f"contact 'hertz-mindlin': tangential={values['tangential']} with tangential_stiffness="
                         f"{given}; tangential=linear needs tangential_stiffness=NUMBER [N/m], the other models have "
                         "the stiffness of the materials")
    tangential = 8.0 * pair["shear_modulus"] if given == "none" else given
    return coefficient_rows(pair, values, stiffness, sqrt(5.0) * stiffness ** 0.5, tangential,
                            2.0 * (pair["shear_modulus"] / pair["modulus"]) ** 0.5, 2.0 * pair["modulus"])


LAWS = [friction_law(
    HERTZ, {"tangential_stiffness": ("none", Positive), "cohesion": tuple(PARTS["cohesion"])},
    {"tangential_stiffness": "Stiffness k_t of all contacts [N/m], for tangential=linear, which needs it.",
     "cohesion": "By the adhesion of materials: of Johnson, Kendall and Roberts or of Derjaguin, Muller and Toporov."},
    name="hertz-mindlin", title="damped Hertz contact with Mindlin friction",
    cites=("antypov2011analytical", *REFERENCES, "johnson1971surface", "thornton1991interparticle",
           "derjaguin1975effect"),
    equations="10, 17 of 10.1209/0295-5075/94/50004", power=1.5, coefficients=coefficients, reads=("young", "poisson"),
    used_in="LAMMPS, LIGGGHTS, Yade, EDEM, MercuryDPM")]
