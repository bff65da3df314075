"""One run of a scenario: from its first or its last saved state to its end, with all that it writes.

The loop advances the simulation from one event to the next (a row of the tables, a frame, a
checkpoint). Which steps these are follows from the run's first length alone and is kept in the notes of
the checkpoint, so that a continued run writes the same files as an unbroken one.
"""

import math
import time

from minidem.output import vtu
from minidem.output.pvd import Pvd
from minidem.pacing import steps_to_reach
from minidem.scenario import plot, summary
from minidem.scenario.folder import RunFolder, check_writable
from minidem.scenario.options import physics
from minidem.scenario.progress import Progress
from minidem.scenario.recorder import Recorder
from minidem.scenario.schedule import Schedule
from minidem.simulation import Simulation

ROWS = 1000  # of the tables, beside the first


class Run:
    """Set up a run in the folder `out`: built from the options, or loaded if there is something to resume.

    Writes nothing; ValueError for options that make no run. `execute` does the rest.
    """

    def __init__(self, scenario, options, out):
        self.scenario, self.quiet = scenario, options.quiet
        self.folder = RunFolder(out, scenario.name)
        check_writable(self.folder.path)
        self.resumed = options.resume and self.folder.has_checkpoint()
        if self.resumed:
            self.notes = self.folder.notes_for(physics(options))
            self.sim = Simulation.load(self.folder.checkpoint, options.threads)
            self.steps = steps_to_reach(options.time, self.sim.dt)
            if self.steps < self.sim.step_count:
                raise ValueError(f"--time: {options.time:g} s is before the checkpoint at "
                                 f"{self.sim.time:g} s; give a later time")
        else:
            self.sim = scenario.build(options)
            self.steps = steps_to_reach(options.time, self.sim.dt)
            self.notes = {
                "physics": physics(options),
                "schedule": {"steps": self.steps, "rows": ROWS, "frames": options.frames},
                "spent": {"steps": 0, "loop_seconds": 0.0, "wall_seconds": 0.0},
            }
        for force in scenario.forces(options) if scenario.forces else ():
            self.sim.add_force(force)
        if not math.isfinite(self.sim.energy().total):
            raise ValueError("the energy of the initial state is not finite; give smaller speeds or sizes")
        pace = self.notes["schedule"]
        self.rows = Schedule(pace["steps"], pace["rows"])
        self.with_frames = pace["frames"] > 0
        self.frames = Schedule(pace["steps"], max(0, pace["frames"] - 1))
        period = options.checkpoint_every
        self.checkpoint_steps = max(1, round(period / self.sim.dt)) if period else math.inf

    def execute(self, interruptible):
        """Run until the end, a signal, or a state that is not finite; returns the summary."""
        self.begun = time.perf_counter()
        self._open_files()
        progress = Progress(self._label(), self.sim, self.steps * self.sim.dt, self.quiet)
        try:
            return self._finish(self._loop(interruptible, progress))
        finally:
            progress.close()
            self.recorder.close()

    def _label(self):
        integrator = self.notes["physics"].get("integrator")
        return f"{self.scenario.name} ({integrator})" if integrator else self.scenario.name

    def _open_files(self):
        keep = self._on_schedule if self.resumed else lambda schedule: None
        if not self.resumed:
            self.folder.start()
        self.recorder = Recorder(self.folder, self.scenario.observables, keep(self.rows))
        if self.with_frames:
            self.folder.frames.mkdir(exist_ok=True)
            self.series = Pvd(self.folder.series, keep(self.frames))
            self.folder.drop_frames(keep={file.rpartition("/")[2] for _, file in self.series.frames})
            if not self.resumed:
                vtu.write_walls(self.folder.walls, self.sim)

    def _on_schedule(self, schedule):
        """What a continued run keeps: steps up to the checkpoint, but not the last one of that session
        if it was recorded out of turn."""
        def keep(instant):
            step = round(instant / self.sim.dt)
            return step <= self.sim.step_count and step in schedule
        return keep

    def _loop(self, interruptible, progress):
        sim, spent = self.sim, self.notes["spent"]
        while True:
            step = sim.step_count
            last = step == self.steps or interruptible.asked
            if (last or step in self.rows) and not self.recorder.record(sim):
                return "not finite"
            if self.with_frames and (last or step in self.frames):
                self._write_frame()
            if last or (step > 0 and step % self.checkpoint_steps == 0):
                self._count_wall_time()
                self.folder.save(sim, self.notes)
            if last:
                return "done" if step == self.steps else "interrupted"
            checkpoint = (step // self.checkpoint_steps + 1) * self.checkpoint_steps
            target = min(self.rows.after(step), self.frames.after(step), checkpoint, self.steps)
            try:
                spent["loop_seconds"] += interruptible.advance(sim, target)
            except FloatingPointError:  # a clump left the numbers: the rows so far are what there is to see
                return "not finite"
            spent["steps"] += sim.step_count - step
            progress.update(sim, self.recorder.energy)

    def _count_wall_time(self):
        now = time.perf_counter()
        self.notes["spent"]["wall_seconds"] += now - self.begun
        self.begun = now

    def _write_frame(self):
        if not self.series.frames or self.series.frames[-1][0] != self.sim.time:
            file = self.folder.frame(self.sim.step_count)
            vtu.write_spheres(file, self.sim, float32=True)
            self.series.add(self.sim.time, file)

    def _finish(self, ended):
        self._count_wall_time()
        result = summary.summarise(
            self.scenario.name, self.notes["physics"], self.sim, self.recorder, ended, self.notes["spent"])
        summary.write(self.folder.summary, result)
        plot.energies(self.folder.picture, self.recorder.energy, self._label())
        return result
