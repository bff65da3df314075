"""One run of a scenario, from its initial state or its last checkpoint to its end, with its output.

The loop advances the simulation from one event to the next: a row of the tables, a frame, a checkpoint. Their steps
depend only on the length that the run was first given, which the notes of the checkpoint hold, so that a continued run
writes the same files as an uninterrupted one.
"""
import fcntl
import math
import os
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from minidem.accuracy.certificate import Certificate
from minidem.analysis.contacts import wall_wrenches
from minidem.analysis.diagnosis import explain_energy
from minidem.analysis.energy import energy_error
from minidem.core.atomic import remove_leftovers, to_disk
from minidem.core.progress import Line
from minidem.output import checkpoint
from minidem.output.frames import Frames
from minidem.output.table import Table
from minidem.output.trajectory import Trajectory, has_gsd
from minidem.scenario import plot, record
from minidem.scenario.options import ALL, physics
from minidem.simulation import Simulation
from minidem.simulation.pace import Pacer, steps_to_reach

ROWS = 1000                 # of the tables, besides the first
ROWS_PER_SNAPSHOT = 4       # of the last good state; a copy at every row takes a sixth of the time of the row
NOTES = {"physics", "schedule", "reach", "spent", "warnings"}           # of a checkpoint


class Schedule:
    """Steps that divide `steps` into `parts` equal parts, rounded down, with 0 and `steps`, and continue beyond.

    With more parts than steps every step is scheduled, with no parts none. The arithmetic is exact.
    """

    def __init__(self, steps=1, parts=0):
        self.steps, self.parts = steps, min(parts, steps)

    def count(self, last):
        """How many steps up to `last` are scheduled."""
        return -(-(last + 1) * self.parts // self.steps)

    def after(self, step):
        """The first scheduled step later than `step`, or infinity."""
        return self.count(step) * self.steps // self.parts if self.parts else math.inf

    def __contains__(self, step):
        return self.count(step) > self.count(step - 1)


class Run:
    """A run in the folder `out`: built from the options, or loaded from a checkpoint with --resume.

    The constructor writes nothing, and raises ValueError for options that cannot be used. A continued run starts from
    the last checkpoint, or, with a warning, from the one before if the last is damaged or rows are missing.
    """

    def __init__(self, scenario, options, out):
        self.scenario, self.options, self.path = scenario, options, Path(out)
        self.last, self.before, self.next = (self.path / f"checkpoint{end}.npz" for end in ("", "_before", "_next"))
        self.trajectories = self.path / f"{scenario.name}.gsd", self.path / "trajectory.csv"    # at most one exists
        self.series = Frames(self.path, contacts=options.contacts, fields=options.fields, name=scenario.name)
        self.damaged = self.saved_step = None       # a checkpoint that is not of use; step of the last one
        self.resumed = options.resume and bool(self.checkpoints())
        if self.resumed:
            self._resume()
        else:
            self._begin()
        sim = self.sim
        self.steps = steps_to_reach(options.time, sim.dt)
        if self.steps < sim.step_count:
            raise ValueError(f"--time: {options.time:g} s is before the checkpoint at {sim.time:g} s; give a later one")
        for force in scenario.forces(options) if scenario.forces else ():
            sim.forces.add(force)
        self.exchange = scenario.how(options)
        closed = scenario.conservative and not sim.forces.functions
        self.conserved = closed and sim.settings.law.conservative and not self.exchange and not sim.reader.moves
        self.energy_limit = getattr(options, "energy_limit", None)
        if self.energy_limit is not None and not closed:
            raise ValueError(f"--energy-limit: {scenario.name} does not conserve energy, so a change of its energy "
                             "is no error; leave the option out")
        if not math.isfinite(sim.energy().total):
            raise ValueError("the energy of the initial state is not finite; give smaller speeds or sizes")
        period = options.checkpoint_every           # the first checkpoint is at step 0
        self.saves = Schedule(max(1, round(period / sim.dt)), 1) if period else Schedule()
        self.last_good = self.reason = None         # a Snapshot; why the run failed
        integrator = self.notes["physics"].get("integrator")
        self.label = f"{scenario.name} ({integrator})" if integrator else scenario.name

    def checkpoints(self):
        """Existing checkpoints, the last one first."""
        return [file for file in (self.last, self.before) if file.exists()]

    def _begin(self):
        """Make the initial state."""
        options = self.options
        with warnings.catch_warnings(record=True, action="always", category=UserWarning) as caught:
            self.sim = self.scenario.build(options)
        texts = [str(warning.message) for warning in caught if warning.category is UserWarning]
        self.notes = {
            "physics": physics(options),
            "schedule": {"steps": steps_to_reach(options.time, self.sim.dt), "rows": ROWS,
                         "frames": options.frames, "track": options.track,
                         "links": options.certify, "track_steps":
                         max(1, round(options.track_every / self.sim.dt)) if options.track_every else 0},
            "reach": None,                  # of the walls in walls.vtu
            "spent": {"steps": 0, "loop_seconds": 0.0, "wall_seconds": 0.0},
            "warnings": {f"start {k}": text for k, text in enumerate(texts)
                         if text not in self.sim.monitor.issued.values()}}     # those `serve` adds
        self._prepare_output()

    def _resume(self):
        """Load the last usable checkpoint and the tables and series that belong to it."""
        refused = []
        for file in self.checkpoints():
            try:
                with warnings.catch_warnings(action="ignore", category=UserWarning):    # which `serve` reports
                    self.sim, self.notes = checkpoint.load(file, Simulation, self.options.threads)
                if not isinstance(self.notes, dict) or self.notes.keys() != NOTES:
                    raise ValueError(f"{file}: a checkpoint, but not of a run of a scenario")
                self._prepare_output()
                break
            except ValueError as error:
                refused.append(str(error))
        else:
            raise ValueError(f"--resume: no checkpoint is of use: {'; '.join(refused)}")
        here, there = physics(self.options), self.notes["physics"]
        for name in [*here, *sorted(there.keys() - here.keys())]:       # options that follow from others come last
            if here.get(name) != there.get(name):
                raise ValueError(f"--{name.replace('_', '-')}: {here.get(name)} here, but {there.get(name)} in the run "
                                 f"in {self.path}; continue with that value, or start anew without --resume")
        self.saved_step, self.damaged = self.sim.step_count, self.last if file != self.last else None
        for reason in refused:
            warnings.warn(f"{reason}: going on from {file}, at {self.sim.time:g} s", stacklevel=2)

    def _prepare_output(self):
        """Set up schedules, tables and series. A continued run keeps what was scheduled up to its checkpoint."""
        schedule, sim = self.notes["schedule"], self.sim
        self.rows = Schedule(schedule["steps"], schedule["rows"])
        self.frames = Schedule(schedule["steps"], max(0, schedule["frames"] - 1))
        self.links = Schedule(schedule["steps"], schedule.get("links", 0))          # newer than the others
        outside = [self.scenario.exchange] if self.scenario.exchange else []
        self.certificate = Certificate(self.path / "run.json", outside=outside, append=self.resumed)

        def kept(steps):        # without the last row or frame of an interrupted session
            return (lambda time: 0.0 <= time <= sim.time and round(time / sim.dt) in steps) if self.resumed else None

        self.tables = {name: Table(self.path / f"{name}.csv", columns, kept(self.rows))
                       for name, columns in record.columns(self.scenario, sim).items()}
        for table in self.tables.values() if self.resumed else ():
            if len(table.rows) != self.rows.count(sim.step_count):
                raise ValueError(f"{table.path} has not all rows up to the checkpoint at {sim.time:g} s")
        self.energy, self.observed = self.tables["energy"], self.tables["observables"]
        self.with_frames = schedule["frames"] > 0
        self.series.begin(kept(self.frames))
        self.series.reach = self.notes["reach"]
        self.trajectory, self.instants, count = None, Schedule(), schedule["track"]
        if count:
            usable = self.trajectories if has_gsd() else self.trajectories[1:]
            there = [file for file in self.trajectories if file.exists()] if self.resumed else usable
            if not there:
                raise ValueError(f"the trajectory {self.trajectories[0]} is missing, with which the run would continue")
            self.trajectory = Trajectory(there[0], clumps=None if count == ALL else range(count), append=self.resumed)
            self.instants = Schedule(schedule["track_steps"], 1) if schedule["track_steps"] else self.frames

    def execute(self, stopped):
        """Run until the end, the energy limit, a non-finite state, or until stopped() is true; returns the summary."""
        self.line, self.first_step = Line(self.options.quiet), self.sim.step_count
        self.started = time.perf_counter() - self.notes["spent"]["wall_seconds"]

        def warn(text):
            self.line.close()
            print(f"{self.label}: warning: {text}", file=sys.stderr)

        with ExitStack() as ending:
            ending.callback(os.close, self._open_folder())
            ending.callback(self.line.close)
            for table in self.tables.values():
                ending.enter_context(table).open()
            if self.trajectory:
                ending.enter_context(self.trajectory).open(self.sim.time)
            if self.with_frames:
                self.series.open()
            self.writer = ending.enter_context(ThreadPoolExecutor(1))
            self.written = self.writer.submit(bool)                 # the last call of `_in_background`
            for text in () if self.resumed else self.notes["warnings"].values():
                warn(text)
            self.sim.monitor.serve(self.notes["warnings"], warn)
            try:
                ended = self._loop(stopped)
            except FloatingPointError as error:
                ended, self.reason = "not finite", str(error)
                # The snapshot, unless a later checkpoint exists
                if self.last_good and (self.saved_step is None or self.last_good.step > self.saved_step):
                    self._save(self.last_good)
            return self._finish(ended)

    def _open_folder(self):
        """Make, lock and clear the folder; returns the lock. By default, all runs of a scenario have one folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if isinstance(error, BlockingIOError):      # else a file system without locks
                os.close(lock)
                raise BlockingIOError(f"another run is writing into {self.path}; wait for its end, or give another "
                                      "--out") from None
        remove_leftovers(self.path)
        # First the checkpoints, then the list of frames, then the frames: no file refers to a missing one.
        pictures = "energy.png", "observables.png"
        earlier = [self.before, self.last, *(self.path / name for name in ("summary.json", *pictures, "walls.csv")),
                   self.certificate.path, *self.certificate.folder.glob("*.npz"),
                   self.series.path, self.series.walls, *self.trajectories,
                   *self.path.glob(f"frames/{self.scenario.name}_*.vtu")]
        for file in [self.next, *filter(None, [self.damaged]), *(() if self.resumed else earlier)]:
            file.unlink(missing_ok=True)                # `next` is left by a run killed before the renaming
        return lock

    def _loop(self, stopped):
        sim, spent, pacer = self.sim, self.notes["spent"], Pacer()
        while True:
            if self.written.done():
                self.written.result()           # raises the error of a frame
            step = sim.step_count
            ended = "done" if step == self.steps else "interrupted" if stopped() else None
            if (ended or step in self.rows) and self._record_row():
                ended = "energy limit"
            if self.with_frames and (ended or step in self.frames):
                if taken := self.series.take(sim):
                    self._in_background(self.series.write, *taken)
            if step in self.instants:
                self._in_background(self.trajectory.append, self.trajectory.sample(sim))
            if step in self.links:
                self._finite(self.certificate, sim)
            if ended or step in self.saves:
                self._save()
            if ended:
                return ended
            events = (self.rows, self.frames, self.instants, self.links, self.saves)
            target, begun = min(*(schedule.after(step) for schedule in events), self.steps), time.perf_counter()
            pacer.run(lambda steps: None if stopped() else sim.run(steps, **self.exchange), target - step)
            spent["loop_seconds"] += time.perf_counter() - begun
            spent["steps"] += sim.step_count - step
            self._show()

    def _in_background(self, function, *arguments):
        """Call a function, such as one that writes a copy of the state, while the run continues; one at a time."""
        self.written.result()
        self.written = self.writer.submit(function, *arguments)

    def _show(self):
        sim, line, done = self.sim, self.line, self.sim.step_count - self.first_step

        def text():
            step = "" if line.terminal else f"step {sim.step_count} of {self.steps}, "
            speed = done / (line.last - line.start)
            error = f", energy error {energy_error(self.energy):.1e}" if self.conserved else ""
            return f"{self.label}: {step}{sim.time:.4g} of {self.steps * sim.dt:g} s, {speed:.3g} steps/s{error}"

        line.update(text, done / max(self.steps - self.first_step, 1))

    def _record_row(self):
        """Add a row to the tables; returns whether the limit is exceeded. FloatingPointError unless it is finite."""
        sim = self.sim
        if not self.energy.rows or self.energy.rows[-1][0] != sim.time:
            with np.errstate(over="ignore", invalid="ignore"):
                contacts = sim.contacts()
                energies = record.energy_row(sim, contacts)
            if not math.isfinite(energies[record.ENERGIES.index("total")]):
                raise FloatingPointError(explain_energy(sim))
            self.energy.append(sim.time, energies)
            self.observed.append(sim.time, [len(contacts), *(one.value(sim) for one in self.scenario.observables)])
            if "walls" in self.tables:
                self.tables["walls"].append(sim.time, wall_wrenches(sim, contacts).flat)
            if len(self.energy.rows) % ROWS_PER_SNAPSHOT == 1:
                self.last_good = sim.reader.snapshot().copy()
            sim.monitor.check(sim, contacts)
        self.reason = self.energy_limit and record.beyond_limit(self)
        return self.reason is not None

    def _save(self, snapshot=None):
        """Save a checkpoint, unless there is one of this step; FloatingPointError if the state is not finite."""
        step = self.sim.step_count if snapshot is None else snapshot.step
        if step == self.saved_step:
            return
        self.notes["spent"]["wall_seconds"] = time.perf_counter() - self.started
        self.notes["reach"] = self.series.reach
        self.written.result()
        to_disk(file for file in (*(table.path for table in self.tables.values()), self.series.path, self.series.walls,
                                  *self.trajectories, *self.series.files) if file.exists())
        self._finite(checkpoint.save, self.next, self.sim, self.notes, snapshot)
        if self.last.exists():
            os.replace(self.last, self.before)
        os.replace(self.next, self.last)
        self.saved_step, self.series.files = step, []         # those since the last checkpoint

    def _finite(self, write, *arguments):
        """Write a checkpoint; FloatingPointError if the state is not finite."""
        try:
            write(*arguments)
        except ValueError as error:
            raise FloatingPointError(str(error)) from None

    def _finish(self, ended):
        """Write summary.json and energy.png; returns the summary."""
        self.written.result()
        self.notes["spent"]["wall_seconds"] = time.perf_counter() - self.started
        result = record.summary(self, ended)
        if self.scenario.conclude and ended == "done":
            result["result"], result["conclusion"] = self.scenario.conclude(self.sim, self, self.path)
        record.write_summary(self.path / "summary.json", result)
        plot.energies(self.path / "energy.png", self.energy, self.label)
        plot.observed(self.path / "observables.png", self.observed, self.scenario.observables)
        return result
