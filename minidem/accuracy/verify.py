"""`verify`: the same scene with several steps, and several times with each; the observables with their errors."""
from __future__ import annotations

import inspect
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from minidem.accuracy.error_bars import TINY, ErrorBar, error_bar
from minidem.analysis.damping import stable_step
from minidem.core.checks import check_call, positive, whole
from minidem.core.keywords import by_keyword
from minidem.core.listing import Listing
from minidem.ensemble.study import run_ensemble
from minidem.ensemble.worker import load, reference_to
from minidem.output import figure
from minidem.output.table import write_table
from minidem.simulation import Simulation

ROUNDING = 2.0 ** -50           # relative size of the changes of positions


@dataclass(frozen=True)
class Verification:
    """What `verify` has found; print it, or read `bars["name"]`.

    Attributes
    ----------
    bars : dict
        An `ErrorBar` for each observable.
    steps : tuple
        Ratios of the steps to the step of the scene.
    values : dict
        (n_steps, n_seeds) of each observable, in all runs.
    """

    bars: dict[str, ErrorBar]
    steps: tuple[float, ...]
    values: dict[str, np.ndarray]

    def __repr__(self):
        return "\n".join(f"{name} = {bar}" for name, bar in self.bars.items())

    def _repr_html_(self):
        return self.table()._repr_html_()

    def table(self) -> Listing:
        """A row for each observable."""
        return Listing({"observable": name, **asdict(bar)} for name, bar in self.bars.items())

    def save(self, folder: Path | str) -> None:
        """Write errors.csv and, with matplotlib, errors.png: each observable over the step, with its errors."""
        table = self.table()
        write_table(Path(folder, "errors.csv"), list(table[0]), [list(row.values()) for row in table])
        figure.save(Path(folder, "errors.png"), (3.2 * min(3, len(table)), 2.6 * -(-len(table) // 3)), self._draw)

    def _draw(self, picture):
        columns = min(3, len(self.bars))
        for k, (name, bar) in enumerate(self.bars.items()):
            axes, values = picture.add_subplot(-(-len(self.bars) // columns), columns, k + 1), self.values[name]
            axes.errorbar(self.steps, values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1]),
                          marker="o", linestyle="", markersize=4, color=figure.COLOURS[0])
            axes.errorbar(0.0, bar.value, bar.error, marker="D", markersize=4, color=figure.COLOURS[1])
            axes.set(title=f"{name}: {bar.verdict}", xlabel="step / step of the scene")


@by_keyword
def verify(build: Callable | str, observables: Callable | str, *, steps: Iterable[float] = (1.0, 0.5, 0.25),
           seeds: int = 8, order: float = 2.0, folder: Path | str | None = None, workers: int | None = None,
           tolerance: float | None = None, imports: Iterable[str | Path] = ()) -> Verification:
    """Numbers of a scene with error bars, from runs with several steps.

    Parameters
    ----------
    build : callable or str
        build() -> Simulation in its initial state; its `dt` is the step to be judged. The runs of a step begin with
        positions that differ by rounding. build(seed) -> Simulation of an initial state of its own for each seed: the
        errors are then of the mean over such states.
    observables : callable or str
        observables(sim) runs the simulation and returns a dictionary of numbers. It must not depend on the step except
        through `sim.dt`.
    steps : list of float
        Three or more factors of `dt`, each smaller than the one before by the same factor.
    seeds : int
        Runs with each step, 2 or more.
    order : float
        Expected order of convergence: 2 for all but first-order schemes and laws.
    folder : path, optional
        For a file per run, as of `run_ensemble`, with which an interrupted call continues; errors.csv and errors.png.
    workers : int, optional
        As of `run_ensemble`. Functions that other processes cannot import are called in this one, one after the other.
    tolerance : float, optional
        Largest relative error: the verdict on a number that does not meet it says what would.
    imports : list of str, optional
        As of `run_ensemble`.

    Returns
    -------
    Verification
        With an `ErrorBar` for each observable.

    Raises
    ------
    ValueError
        For arguments out of range.
    RuntimeError
        If a run fails.

    Notes
    -----
    A bar of 95 % has two parts. Where a scene is chaotic, runs with different steps do not follow each other, and only
    means can converge; the effect of the step that the samples do not show is bounded. Errors that all steps share,
    such as of the contact law or a box too small, are not seen.
    """
    given, workers = _given(build, observables, workers)
    return verification(measured, given, steps, seeds, order, folder, workers, tolerance, imports)


def verification(run, given, steps=(1.0, 0.5, 0.25), seeds=8, order=2.0, folder=None, workers=None, tolerance=None,
                 imports=()) -> Verification:
    """The `Verification` of run(**given, step, seed), a dictionary of numbers; others : as of `verify`.

    given : dict of lists of one value each, as a grid of `run_ensemble`;  workers : 0: in this process
    """
    steps, seeds = tuple(positive("steps", step) for step in steps), whole("seeds", seeds, 2)
    error_bar(np.zeros((len(steps), seeds)), steps, order=order, tolerance=tolerance)       # ValueError before any run
    if workers == 0:
        same = {name: value for name, [value] in given.items()}
        rows = [run(**same, step=step, seed=seed) for step in steps for seed in range(seeds)]
    else:
        with tempfile.TemporaryDirectory() as other:
            rows = run_ensemble(run, {**given, "step": steps, "seed": range(seeds)}, folder or other, workers,
                                imports=imports)
    failed = [row["error"] for row in rows if row.get("error")]
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(rows)} runs failed: {failed[0]}")
    names = [name for name in rows[0] if name not in (*given, "step", "seed", "run_seconds", "error")
             and all(row.get(name) is not None for row in rows)]
    values = {name: np.reshape([row[name] for row in rows], (len(steps), seeds)) for name in names}
    lost = [name for name, of_one in values.items() if not np.isfinite(of_one).all()]
    if lost or not names:
        raise RuntimeError(f"{', '.join(lost) or 'observables'}: return finite numbers in all runs")
    found = Verification({name: error_bar(of_one, steps, order=order, tolerance=tolerance)
                          for name, of_one in values.items()}, steps, values)
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        found.save(folder)
    return found


@dataclass(frozen=True)
class Suggestion:
    """The step that `suggest_step` has found; print it.

    Attributes
    ----------
    dt : float
        The smallest of `steps` and `stable` [s].
    steps : dict
        The step for each observable [s].
    stable : float
        The largest step [s] that is stable for the contacts at the end of a run, see `analysis.stable_step`.
    verification : Verification
        The runs.
    seconds : float
        The time that they took [s].
    """

    dt: float
    steps: dict[str, float]
    stable: float
    verification: Verification
    seconds: float

    def __repr__(self):
        runs = 1 + next(iter(self.verification.values.values())).size
        stable = f"stable up to {self.stable:.2g} s" if self.stable < np.inf else "nothing touches at the end"
        return (f"dt = {self.dt:.2g} s ({', '.join(f'{name} {step:.2g} s' for name, step in self.steps.items())}; "
                f"{stable}): {1.0 / self.dt:.2g} steps per second, found with {runs} runs in {self.seconds:.1f} s")


@by_keyword
def suggest_step(build: Callable | str, observables: Callable | str, *, tolerance: float = 0.01,
                 **options) -> Suggestion:
    """The largest step up to the one of a scene with which its observables are within a relative tolerance, and stable.

    Parameters
    ----------
    build, observables, **options
        As of `verify`, whose 24 runs are made, with seeds=2 six; and one more with the largest step.
    tolerance : float
        Largest relative effect of the step on the mean.

    Returns
    -------
    Suggestion

    Raises
    ------
    ValueError, RuntimeError
        As `verify`.

    Notes
    -----
    The effect of a step follows from the differences between steps; where samples cannot show it, it is bounded, and
    more seeds may allow a larger step. An observable that does not converge gets the smallest step of the runs. Begin
    with a large step: it is the largest that can be suggested.
    """
    begun, tolerance, found = time.perf_counter(), positive("tolerance", tolerance), verify(
        build, observables, **options)
    build, observables = (load(one) if isinstance(one, str) else one for one in (build, observables))
    sim = _scene(build, 0)
    dt, smallest, order = sim.dt, found.steps[-1], options.get("order", 2.0)
    steps = {}
    for name, bar in found.bars.items():
        factor = smallest * (tolerance * abs(bar.value) / max(bar.effect, TINY)) ** (1.0 / order)
        steps[name] = dt * min(factor, smallest if bar.verdict == "not converged" else found.steps[0])
    observables(sim := changed(sim, found.steps[0]))
    stable = stable_step(sim)
    return Suggestion(min(*steps.values(), stable), steps, stable, found, time.perf_counter() - begun)


def measured(build, observables, step, seed):
    """A run: the observables of the scene with `step` times its step, by name."""
    build, observables = (load(one) if isinstance(one, str) else one for one in (build, observables))
    sim = changed(_scene(build, seed), step, 0 if inspect.signature(build).parameters else seed)
    return {name: float(value) for name, value in observables(sim).items()}


def _scene(build, seed):
    return build(seed) if inspect.signature(build).parameters else build()


def _given(build, observables, workers):
    """The functions as values of a grid, and the workers: 0 for those that other processes cannot import."""
    for name, function in ("build", build), ("observables", observables):
        if callable(function) and (name == "observables" or inspect.signature(function).parameters):
            check_call(name, function, "simulation" if name == "observables" else "seed")
    given = {"build": build, "observables": observables}
    try:
        return {name: [reference_to(function)] for name, function in given.items()}, workers
    except ValueError:
        return {name: [function] for name, function in given.items()}, 0


def changed(sim: Simulation, step: float, seed: int = 0) -> Simulation:
    """A copy of a simulation with `step` times its step, and with positions that differ by rounding unless seed is 0.

    ValueError if the time would not be a whole number of steps.
    """
    count = sim.step_count / step
    if abs(count - round(count)) > 1e-9 * count:
        raise ValueError(f"steps: {step:g} times the step does not divide the time {sim.time:g} s that the simulation "
                         "has reached; build one that has made no steps, or take other factors")
    given, threads, snapshot, issued = sim.__getstate__()
    snapshot = snapshot.begun_again(np.ones_like(snapshot.started), *sim.reader.rates())
    if seed:
        position = snapshot.state.column("position")
        noise = np.random.default_rng(seed).normal(size=position.shape)
        snapshot.state.set_column("position", position + ROUNDING * np.abs(position).max(initial=0.0) * noise)
    new = Simulation.__new__(type(sim))
    new.__setstate__((given | {"dt": step * sim.dt}, threads,
                      replace(snapshot, step=round(count), forces_known=False), issued))
    return new
