"""One run of a scenario, from its initial state or its last checkpoint to its end, with its output.

The loop advances the simulation from one event to the next: a row of the tables, a frame, a checkpoint. Their steps
depend only on the length that the run was first given, which the notes of the checkpoint hold, so that a continued run
writes the same files as an uninterrupted one.
"""

import math
import sys
import time
import warnings

from minidem.analysis.monitor import capture_warnings
from minidem.engine.driver import steps_to_reach
from minidem.output.background import Background
from minidem.output.frames import Frames
from minidem.output.trajectory import Trajectory, has_gsd
from minidem.scenario import plot
from minidem.scenario.files import ALL, ChangedPhysics, RunFolder, check_writable
from minidem.scenario.options import physics
from minidem.scenario.progress import Progress
from minidem.scenario.record import Recorder, summarise, write_summary

ROWS = 1000                 # of the tables, besides the first
UNWRITTEN = 2               # frames in memory at most: one is being written, one waits
ROWS_PER_SNAPSHOT = 4       # of the last good state; a copy at every row takes a sixth of the time of the row


class Schedule:
    """Steps that divide `steps` time steps into `parts` equal parts, rounded down, and go on at the same intervals.

    Steps 0 and `steps` are scheduled. With more parts than steps every step is, with no parts none. The arithmetic is
    exact, so that a continued run has the same schedule.
    """

    def __init__(self, steps, parts):
        self.steps, self.parts = steps, min(parts, steps)

    def after(self, step):
        """The first scheduled step later than `step`, or infinity."""
        if self.parts == 0:
            return math.inf
        number = -(-(step + 1) * self.parts // self.steps)
        return number * self.steps // self.parts

    def __contains__(self, step):
        return self.after(step - 1) == step


class Run:
    """A run in the folder `out`: built from the options, or loaded from a checkpoint with --resume.

    The constructor writes nothing, and raises ValueError for options that cannot be used. A continued run starts from
    the last checkpoint, or, with a warning, from the one before if the last is damaged or rows are missing.
    """

    def __init__(self, scenario, options, out):
        self.scenario, self.quiet = scenario, options.quiet
        self.folder = RunFolder(out, scenario.name)
        self.series = Frames(self.folder.path, options.contacts, options.fields, name=scenario.name)
        check_writable(out, [self.series.file(0), self.folder.earlier])
        self.resumed = options.resume and bool(self.folder.checkpoints())
        if self.resumed:
            self._resume(options)
            self.steps = steps_to_reach(options.time, self.sim.dt)
            if self.steps < self.sim.step_count:
                raise ValueError(f"--time: {options.time:g} s is before the checkpoint at "
                                 f"{self.sim.time:g} s; give a later time")
        else:
            with capture_warnings(texts := []):
                self.sim = scenario.build(options)
            self.steps = steps_to_reach(options.time, self.sim.dt)
            self.notes = {
                "physics": physics(options),
                "schedule": {"steps": self.steps, "rows": ROWS, "frames": options.frames},      # and the trajectory
                "reach": None,                  # of the walls in walls.vtu
                "spent": {"steps": 0, "loop_seconds": 0.0, "wall_seconds": 0.0},
                "warnings": {f"start {k}": text for k, text in enumerate(texts)
                             if text not in self.sim.monitor.issued.values()},     # those `serve` adds
            }
            self._prepare_output(options)
        for force in scenario.forces(options) if scenario.forces else ():
            self.sim.add_force(force)
        self.exchange = scenario.exchange(options) if scenario.exchange else ()
        closed = scenario.conservative and not self.sim.user_forces
        self.conserved = closed and self.sim.settings.law.conservative and not self.exchange \
            and not self.sim.loop.moves
        self.energy_limit = getattr(options, "energy_limit", None)
        if self.energy_limit is not None and not closed:
            raise ValueError(f"--energy-limit: {scenario.name} does not conserve energy, so a change of its energy "
                             "is no error; leave the option out")
        if not math.isfinite(self.sim.energy().total):
            raise ValueError("the energy of the initial state is not finite; give smaller speeds or sizes")
        period = options.checkpoint_every
        # The first checkpoint is at step 0; without a period none is scheduled.
        self.checkpoints = Schedule(max(1, round(period / self.sim.dt)), 1) if period else Schedule(1, 0)
        self.saved_step = self.sim.step_count if self.resumed else None
        self.last_good = self.reason = None         # a Snapshot; why the run failed

    def _resume(self, options):
        """Load the last usable checkpoint and the tables and series that belong to it."""
        refused = []
        for file in self.folder.checkpoints():
            try:
                with capture_warnings([]):              # `serve` reports what the earlier session has not
                    self.sim, self.notes = self.folder.load(file, physics(options), options.threads)
                self._prepare_output(options, self._on_schedule)
                self._check_rows(file)
                break
            except ChangedPhysics:
                raise
            except ValueError as error:
                refused.append(str(error))
        else:
            raise ValueError(f"--resume: no checkpoint is of use: {'; '.join(refused)}")
        for reason in refused:
            warnings.warn(f"{reason}: going on from {file}, at {self.sim.time:g} s", stacklevel=2)

    def _prepare_output(self, options, keep=lambda schedule: None):
        """Set up schedules, tables and series. keep(schedule) is the `keep` of tables and series, None in a new run."""
        schedule = self.notes["schedule"]
        self.rows = Schedule(schedule["steps"], schedule["rows"])
        self.with_frames = schedule["frames"] > 0
        self.frames = Schedule(schedule["steps"], max(0, schedule["frames"] - 1))
        n_walls = len(self.sim.walls) if self.scenario.wall_forces else 0
        self.recorder = Recorder(self.folder, self.scenario.observables, n_walls, keep(self.rows),
                                 self.sim.box is not None and self.sim.loop.state.box.moves)
        self.series.begin(keep(self.frames))
        self.series.reach = self.notes["reach"]
        self._prepare_trajectory(options)

    def _prepare_trajectory(self, options):
        """Set up the trajectory of the earlier session, or of the options if there was none."""
        schedule, gsd_file = self.notes["schedule"], self.folder.trajectories[0]
        existing = [file for file in self.folder.trajectories if self.resumed and file.exists()]
        if not schedule.get("track"):
            every = options.track_every and max(1, round(options.track_every / self.sim.dt))
            schedule |= {"track": options.track, "track_steps": every or 0}
        elif not existing:
            raise ValueError(f"the trajectory {gsd_file} is missing, with which the run would go on")
        count, every = schedule["track"], schedule["track_steps"]
        self.trajectory, self.instants = None, Schedule(1, 0)
        if count:
            file = existing[0] if existing else self.folder.trajectories[not has_gsd()]
            self.trajectory = Trajectory(file, None if count == ALL else range(count), append=bool(existing))
            self.instants = Schedule(every, 1) if every else self.frames

    def _check_rows(self, file):
        """ValueError unless all tables have all rows up to the current step."""
        times, step = [], 0
        while step <= self.sim.step_count:
            times.append(step * self.sim.dt)
            step = self.rows.after(step)
        for table in self.recorder.tables:
            if [row[0] for row in table.rows] != times:
                raise ValueError(f"{file}: {table.path} has not all rows up to its time, {self.sim.time:g} s")

    def _on_schedule(self, schedule):
        """A function of the time: whether a continued run keeps the row or frame. Those after the checkpoint, and an
        unscheduled last one of the earlier session, are removed."""
        return lambda time: 0.0 <= time <= self.sim.time and round(time / self.sim.dt) in schedule

    def execute(self, interruptible):
        """Run until the end, a signal, the energy limit, or a non-finite state; returns the summary."""
        self.wall_start = time.perf_counter()
        progress = Progress(self._label(), self.sim, self.steps, self.quiet)

        def warn(text):
            progress.close()
            print(f"{self._label()}: warning: {text}", file=sys.stderr)

        try:
            with Background() as self.output:
                self._open_output()
                for text in () if self.resumed else self.notes["warnings"].values():
                    warn(text)
                self.sim.monitor.serve(self.notes["warnings"], warn)
                try:
                    ended = self._loop(interruptible, progress)
                except FloatingPointError as error:
                    ended, self.reason = "not finite", str(error)
                    self._save_last_good()
                return self._finish(ended)
        finally:
            progress.close()
            self.recorder.close()
            if self.trajectory:
                self.trajectory.close()
            self.folder.unlock()

    def _label(self):
        integrator = self.notes["physics"].get("integrator")
        return f"{self.scenario.name} ({integrator})" if integrator else self.scenario.name

    def _open_output(self):
        if self.resumed:
            self.folder.lock()
        else:
            self.folder.start()
        self.recorder.open()
        if self.trajectory:
            self.trajectory.open(self.sim.time)
        if self.with_frames:
            self.series.open()

    def _loop(self, interruptible, progress):
        sim, spent = self.sim, self.notes["spent"]
        while True:
            self.output.wait(UNWRITTEN)         # raises the error of a frame, never waits
            step = sim.step_count
            ended = "done" if step == self.steps else "interrupted" if interruptible.stop_requested else None
            if (ended or step in self.rows) and self._record_row():
                ended = "energy limit"
            if self.with_frames and (ended or step in self.frames):
                self._write_frame()
            if step in self.instants:
                self.output.wait(UNWRITTEN - 1)
                self.output.call(self.trajectory.append, self.trajectory.sample(sim))
            if ended or step in self.checkpoints:
                self._save()
            if ended:
                return ended
            events = (self.rows, self.frames, self.instants, self.checkpoints)
            target = min(*(schedule.after(step) for schedule in events), self.steps)
            spent["loop_seconds"] += interruptible.advance(sim, target, self.exchange)
            spent["steps"] += sim.step_count - step
            progress.update(sim, self.recorder.energy if self.conserved else None)

    def _record_row(self):
        """Add a row to the tables and check it; returns whether the energy limit is exceeded."""
        contacts = self.recorder.record(self.sim)
        if contacts is not None:
            if len(self.recorder.energy.rows) % ROWS_PER_SNAPSHOT == 1:
                self.last_good = self.sim.loop.snapshot().copy()
            self.sim.monitor.check(self.sim, contacts)
        self.reason = self.energy_limit and self.recorder.beyond_limit(self.sim, self.energy_limit)
        return self.reason is not None

    def _save_last_good(self):
        """Save the snapshot unless a later checkpoint exists."""
        if self.last_good and (self.saved_step is None or self.last_good.step > self.saved_step):
            self._save(self.last_good)

    def _save(self, snapshot=None):
        """Save a checkpoint unless one of this step exists; FloatingPointError if the state is not finite."""
        step = self.sim.step_count if snapshot is None else snapshot.step
        if step != self.saved_step:
            self._add_wall_time()
            self.output.wait()          # a checkpoint is later than all frames up to its step
            try:
                self.folder.save(self.sim, self.notes, self.series.files, snapshot)
            except ValueError as error:
                raise FloatingPointError(str(error)) from None
            self.saved_step, self.series.files = step, []         # those since the last checkpoint

    def _add_wall_time(self):
        now = time.perf_counter()
        self.notes["spent"]["wall_seconds"] += now - self.wall_start
        self.wall_start = now

    def _write_frame(self):
        """Copy the state, which is written in the background."""
        self.output.wait(UNWRITTEN - 1)
        taken = self.series.take(self.sim)
        self.notes["reach"] = self.series.reach
        if taken:
            self.output.call(self.series.write, *taken)

    def _finish(self, ended):
        self.output.wait()
        self._add_wall_time()
        result = summarise(self.scenario.name, self.notes, self.sim, self.recorder, ended, self.reason, self.conserved)
        if self.scenario.conclude and ended == "done":
            result["result"], result["conclusion"] = self.scenario.conclude(
                self.sim, self.recorder, self.folder.path)
        write_summary(self.folder.summary, result)
        plot.energies(self.folder.picture, self.recorder.energy, self._label())
        return result
