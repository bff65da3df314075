"""One run of a scenario: from its first or its last saved state to its end, with all that it writes.

The loop advances the simulation from one event to the next (a row of the tables, a frame, a
checkpoint). Which steps these are follows from the run's first length alone and is kept in the notes of
the checkpoint, so that a continued run writes the same files as an unbroken one.
"""

import math
import sys
import time
import warnings

from minidem.analysis.monitor import Monitor, capture_warnings
from minidem.engine.chunked_run import steps_to_reach
from minidem.output import vtu
from minidem.output.checkpoint import Snapshot
from minidem.output.pvd import Pvd
from minidem.scenario import plot, summary
from minidem.scenario.folder import ChangedPhysics, RunFolder, check_writable
from minidem.scenario.options import physics
from minidem.scenario.progress import Progress
from minidem.scenario.recorder import Recorder
from minidem.scenario.schedule import Schedule

ROWS = 1000             # of the tables, beside the first
ROWS_PER_STATE = 4      # of the state that is kept for when a run loses a clump: a copy a row would cost a crowd 1 %


class Run:
    """Set up a run in the folder `out`: built from the options, or loaded if there is something to resume.

    Writes nothing; ValueError for options that make no run. `execute` does the rest.

    A continued run goes on from its last checkpoint, or, with a warning, from the one before where the last
    is damaged or has not all rows of the tables beside it.
    """

    def __init__(self, scenario, options, out):
        self.scenario, self.quiet = scenario, options.quiet
        self.folder = RunFolder(out, scenario.name)
        check_writable(out, [self.folder.frame(0), self.folder.earlier])
        self.resumed = options.resume and bool(self.folder.checkpoints())
        if self.resumed:
            self._take_up(options)
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
                "schedule": {"steps": self.steps, "rows": ROWS, "frames": options.frames},
                "spent": {"steps": 0, "loop_seconds": 0.0, "wall_seconds": 0.0},
                "warnings": {f"start {k}": text for k, text in enumerate(texts)},
            }
            self._read_files()
        for force in scenario.forces(options) if scenario.forces else ():
            self.sim.add_force(force)
        self.conserved = scenario.conservative and not self.sim.user_forces
        self.energy_limit = getattr(options, "energy_limit", None)
        if self.energy_limit is not None and not self.conserved:
            raise ValueError(f"--energy-limit: forces of its own do work in {scenario.name}, so a change of its energy "
                             "is no error; leave the option out")
        if not math.isfinite(self.sim.energy().total):
            raise ValueError("the energy of the initial state is not finite; give smaller speeds or sizes")
        period = options.checkpoint_every
        # The first at step 0, so that there is one from the beginning; without a period none is in turn.
        self.checkpoints = Schedule(max(1, round(period / self.sim.dt)), 1) if period else Schedule(1, 0)
        self.saved_step = self.sim.step_count if self.resumed else None
        self.new_frames = []        # since the last checkpoint
        self.last_good, self.reason = Snapshot(), None

    def _take_up(self, options):
        """The state and the files of the last checkpoint that is of use."""
        useless = []
        for file in self.folder.checkpoints():
            try:
                self.sim, self.notes = self.folder.load(file, physics(options), options.threads)
                self._read_files(self._on_schedule)
                self._check_rows(file)
                break
            except ChangedPhysics:
                raise
            except ValueError as error:
                useless.append(str(error))
        else:
            raise ValueError(f"--resume: no checkpoint is of use: {'; '.join(useless)}")
        for reason in useless:
            warnings.warn(f"{reason}: going on from {file}, at {self.sim.time:g} s", stacklevel=2)

    def _read_files(self, keep=lambda schedule: None):
        """Schedules, tables and series. keep: function of a schedule -> which rows and frames are kept."""
        pace = self.notes["schedule"]
        self.rows = Schedule(pace["steps"], pace["rows"])
        self.with_frames = pace["frames"] > 0
        self.frames = Schedule(pace["steps"], max(0, pace["frames"] - 1))
        self.recorder = Recorder(self.folder, self.scenario.observables, keep(self.rows))
        self.series = Pvd(self.folder.series, keep(self.frames))

    def _check_rows(self, file):
        """ValueError unless both tables have all rows up to the present step."""
        times, step = [], 0
        while step <= self.sim.step_count:
            times.append(step * self.sim.dt)
            step = self.rows.after(step)
        for table in (self.recorder.energy, self.recorder.observed):
            if [row[0] for row in table.rows] != times:
                raise ValueError(f"{file}: {table.path} has not all rows up to its time, {self.sim.time:g} s")

    def _on_schedule(self, schedule):
        """What a continued run keeps: steps up to the checkpoint, but not the last one of that session
        if it was recorded out of turn."""
        def keep(instant):
            if not 0.0 <= instant <= self.sim.time:
                return False
            return round(instant / self.sim.dt) in schedule
        return keep

    def execute(self, interruptible):
        """Run until the end, a signal, the energy limit, or a state that is not finite; returns the summary."""
        self.begun = time.perf_counter()
        progress = Progress(self._label(), self.sim, self.steps * self.sim.dt, self.quiet)

        def warn(text):
            progress.close()
            print(f"{self._label()}: warning: {text}", file=sys.stderr)

        self.monitor = Monitor(self.sim, self.recorder.energy, self.notes["warnings"], warn, self.energy_limit)
        try:
            self._open_files()
            for text in () if self.resumed else self.notes["warnings"].values():
                warn(text)
            try:
                ended = self._loop(interruptible, progress)
            except FloatingPointError as error:
                ended = self._lost(error)
            return self._finish(ended)
        finally:
            progress.close()
            self.recorder.close()
            self.folder.leave()

    def _label(self):
        integrator = self.notes["physics"].get("integrator")
        return f"{self.scenario.name} ({integrator})" if integrator else self.scenario.name

    def _open_files(self):
        if self.resumed:
            self.folder.occupy()
        else:
            self.folder.start()
        self.recorder.open()
        if self.with_frames:
            self.folder.frames.mkdir(exist_ok=True)
            self.series.write()
            self.folder.drop_frames(keep={file.rpartition("/")[2] for _, file in self.series.frames})
            if not self.resumed:
                vtu.write_walls(self.folder.walls, self.sim)

    def _loop(self, interruptible, progress):
        sim, spent = self.sim, self.notes["spent"]
        while True:
            step = sim.step_count
            ended = "done" if step == self.steps else "interrupted" if interruptible.asked else None
            if (ended or step in self.rows) and self._is_beyond_limit():
                ended = "energy limit"
            if self.with_frames and (ended or step in self.frames):
                self._write_frame()
            if ended or step in self.checkpoints:
                self._save(sim)
            if ended:
                return ended
            events = (self.rows, self.frames, self.checkpoints)
            target = min(*(schedule.after(step) for schedule in events), self.steps)
            spent["loop_seconds"] += interruptible.advance(sim, target)
            spent["steps"] += sim.step_count - step
            progress.update(sim, self.recorder.energy if self.conserved else None)

    def _is_beyond_limit(self):
        """Record a row, and look whether the run may go on."""
        contacts = self.recorder.record(self.sim)
        if contacts is not None:
            if len(self.recorder.energy.rows) % ROWS_PER_STATE == 1:
                self.last_good.take(self.sim)
            self.monitor.check(contacts)
        self.reason = self.monitor.exceeded_limit()
        return self.reason is not None

    def _lost(self, error):
        """A clump left the numbers: the rows so far are what there is to see, and the last state where to look."""
        self.reason = str(error)
        good = self.last_good.step_count
        if good is not None and (self.saved_step is None or good > self.saved_step):
            self._save(self.last_good.simulation())
        return "not finite"

    def _save(self, sim):
        """Save a checkpoint unless there is one of this step. FloatingPointError: the state is not finite."""
        if sim.step_count != self.saved_step:
            self._count_wall_time()
            try:
                self.folder.save(sim, self.notes, self.new_frames)
            except ValueError as error:
                raise FloatingPointError(str(error)) from None
            self.saved_step, self.new_frames = sim.step_count, []

    def _count_wall_time(self):
        now = time.perf_counter()
        self.notes["spent"]["wall_seconds"] += now - self.begun
        self.begun = now

    def _write_frame(self):
        if not self.series.frames or self.series.frames[-1][0] != self.sim.time:
            file = self.folder.frame(self.sim.step_count)
            vtu.write_spheres(file, self.sim, float32=True)
            self.series.add(self.sim.time, file)
            self.new_frames.append(file)

    def _finish(self, ended):
        self._count_wall_time()
        result = summary.summarise(self.scenario.name, self.notes, self.sim, self.recorder, ended, self.reason,
                                   self.conserved)
        summary.write(self.folder.summary, result)
        plot.energies(self.folder.picture, self.recorder.energy, self._label())
        return result
