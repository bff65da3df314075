"""A number with its errors, from runs of one scene with several steps, and several of each.

The difference of two steps is taken run by run, so that what runs with the same seed have in common drops out. Where it
exceeds twice its standard error, the order of convergence follows. The value is extrapolated to a step of zero (L. F.
Richardson, Phil. Trans. R. Soc. A 210, 307 (1911), doi 10.1098/rsta.1911.0009), with the scatter that this has. Safety
factors are those of the grid convergence index (P. J. Roache, J. Fluids Eng. 116, 405 (1994), doi 10.1115/1.2910291).
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from minidem.core.checks import finite_array, positive

CONFIDENCE = 0.95
SAFE, WILD = 1.25, 3.0          # factors of the change by the last step: where the order is as expected, and where not
NEAR = 0.5                      # how near the fitted order is to one that is as expected
FOLLOWS = 0.7                   # correlation of runs that follow each other
SPREAD, REMAINS = 1e-7, 0.35    # spread that rounding cannot make, over the value, and that a finer step cannot lower
ROUNDED = 1e-10                 # relative change that may be rounding
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


@dataclass(frozen=True)
class ErrorBar:
    """What runs with several steps say about a number.

    Attributes
    ----------
    value : float
        Extrapolated to a step of zero, unless the order is not the expected one; else the mean at the smallest step.
    sampling, step : float
        Half-widths of 95 % intervals: from the scatter of the runs, that of the extrapolation included; and from what
        the extrapolation leaves out.
    order, order_error : float
        Fitted order of convergence and its standard error; nan where the step changes less than twice its error.
    effect : float
        What the smallest step changes in the mean at most, before the extrapolation.
    verdict : {"converged", "chaotic", "not converged", "not enough samples"}
    reason : str
    """

    value: float
    sampling: float
    step: float
    order: float
    order_error: float
    effect: float
    verdict: str
    reason: str

    @property
    def error(self) -> float:
        """Half-width of the 95 % interval of the value."""
        return float(np.hypot(self.sampling, self.step))

    def __str__(self):
        digits = max(0, int(np.floor(np.log10(abs(self.value) / self.error))) + 2) if self.error and self.value else 6
        return (f"{self.value:.{min(digits, 15)}g} ± {self.error:.1e} (sampling {self.sampling:.1e}, step "
                f"{self.step:.1e}): {self.verdict}, {self.reason}")


def error_bar(values: ArrayLike, steps: ArrayLike, *, order: float = 2.0, tolerance: float | None = None) -> ErrorBar:
    """The value of an observable with its errors.

    Parameters
    ----------
    values : (n_steps, n_runs) array_like
        Of runs with each step; runs in a column have the same seed.
    steps : (n_steps,) array_like
        Three or more, each smaller than the one before by the same factor. The last three count.
    order : float
        Expected order of convergence.
    tolerance : float, optional
        Largest relative error of the value; what does not meet it is not converged, or has not enough samples.

    Returns
    -------
    ErrorBar

    Raises
    ------
    ValueError
        For fewer than three steps or two runs, or steps without a common ratio.
    """
    values, steps = finite_array("values", values, (-1, -1)), finite_array("steps", steps, (-1,))
    order = positive("order", order)
    ratios = steps[:-1] / steps[1:]
    if len(steps) != len(values) or len(steps) < 3 or (ratios <= 1.0).any() or np.ptp(ratios) > 1e-9 * ratios[0]:
        raise ValueError(f"steps = {steps.tolist()}: give three or more, each smaller than the one before by the same "
                         f"factor, one for each of the {len(values)} rows of values")
    if (n := values.shape[1]) < 2:
        raise ValueError(f"values has {n} runs of each step: give two or more")
    ratio, (coarse, middle, fine) = ratios[0], values[-3:]
    wide, near = float(student.ppf(0.5 + 0.5 * CONFIDENCE, n - 1)) / np.sqrt(n), ratio ** order - 1.0
    scale = np.abs(values).max()

    def deviation(samples):         # of a mean; 0 samples differ by rounding
        return max(np.std(samples, ddof=1) / np.sqrt(n), 2.0 * EPS * scale)

    differences = coarse - middle, middle - fine
    (first, second), (u, v) = np.mean(differences, axis=1), map(deviation, differences)
    # Errors of the phase at which contacts begin within a step scatter, too, but fall with the step.
    spread = np.std(fine, ddof=1) > max(SPREAD * scale, REMAINS * np.std(coarse, ddof=1))
    chaotic = spread and np.corrcoef(middle, fine)[0, 1] < FOLLOWS
    p = p_error = np.nan
    effect = SAFE * max(abs(first) / ratio ** order, abs(second), 2.0 * v) / near
    if max(abs(first), abs(second)) <= ROUNDED * scale:
        runs, step, verdict, reason = fine, abs(second), "converged", "to rounding"
    elif abs(second) <= 2.0 * v or abs(first) <= 2.0 * u:
        runs, step, verdict = fine - differences[1] / near, 0.0, "converged"
        reason = f"the effect of the smallest step is below {effect:.1e}"
    else:
        p = float(np.log(abs(first / second)) / np.log(ratio))
        p_error = float(np.hypot(u / first, v / second) / np.log(ratio))
        if first * second > 0.0 and abs(p - order) <= max(NEAR, 2.0 * p_error):
            runs = fine - differences[1] / near
            before = middle - differences[0] / near         # extrapolated from the steps before
            step = SAFE * abs(np.mean(runs) - np.mean(before)) / (ratio ** (order + 1.0) - 1.0)
            verdict, reason = "converged", f"of order {p:.2f} ± {p_error:.2f}"
        elif p >= order - NEAR:
            runs, step = fine, effect
            verdict, reason = "converged", f"at least of order {order:g}, irregularly"
        else:
            runs, step = fine, WILD * max(abs(first), abs(second))
            verdict, reason = "not converged", f"the order is {p:.2f} ± {p_error:.2f} instead of {order:g}"
    if chaotic and verdict == "converged":
        verdict, reason = "chaotic", f"runs do not follow each other, and of their means {reason}"
    found = ErrorBar(float(np.mean(runs)), float(wide * np.std(runs, ddof=1)), float(step), p, p_error,
                     float(effect), verdict, reason)
    return found if tolerance is None else _judged(found, n, order, positive("tolerance", tolerance))


def _judged(bar, n, order, tolerance):
    """The same with the verdict that it does not meet the tolerance, and what would."""
    allowed = max(tolerance * abs(bar.value), TINY)
    if bar.error <= allowed:
        return bar
    if bar.sampling > bar.step:
        verdict, need = "not enough samples", f"{np.ceil(n * (bar.sampling / allowed) ** 2):.3g} runs of each step"
    else:
        verdict, need = "not converged", f"a step {(bar.step / allowed) ** (1.0 / order):.2g} times smaller"
    return replace(bar, verdict=verdict, reason=f"for an error of {tolerance:g} take about {need}")
