'''Scenario scripts: command line, tables, frames, checkpoints, figures, comparisons.

A scenario is a function from options to a Simulation with a name and defaults. `--integrator`, `--contact`, `--dt` and
`--seed` are options of those that have a default for them::

    """Two rods meet head on."""
    import sys
    import minidem as md
    from minidem.scenario import Scenario, positive

    def add_options(group):
        group.add_argument("--speed", type=positive, default=1.0, help="of each rod [m/s] (default: 1)")

    def build(options):
        rod = md.ClumpTemplate([(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], [0.03] * 3, density=2500.0)
        sim = md.Simulation(md.Material(young=1e9, poisson=0.1), walls=md.box((0, 0, 0), (1, 1, 1)),
                            rotation=options.integrator, contact=options.contact, dt=options.dt,
                            threads=options.threads)
        v = options.speed
        sim.add_clumps(rod, [(0.2, 0.5, 0.5), (0.8, 0.55, 0.5)], velocity=[(v, 0, 0), (-v, 0, 0)])
        return sim

    main = Scenario(
        name="two_rods", description=__doc__, build=build, add_options=add_options,
        defaults={"integrator": "spiral", "contact": "hertz", "dt": 1e-5, "time": 1.0}).main

    if __name__ == "__main__":
        sys.exit(main())

Public names: `Scenario` and `Observable`; `outflow`, the observables of an outlet; `settled`, for beds; `Report`, of
studies; the option types `finite`, `positive`, `at_least`; those of `minidem.initial`.

A scenario is a function of options; all else is here, and the same for each:

* options.py makes the command line from the defaults of a Scenario, and checks it.
* scenario.py sets up one run, or one of each scheme to compare, before anything is written; it says how runs ended.
* run.py advances a run from event to event (row, frame, instant of a trajectory, checkpoint). Which steps these are
  follows from the length first given, which each checkpoint holds: a continued run writes the same files.
* record.py has the rows of the tables, and summary.json; plot.py the figures; table.py `md.Table`, for any script.
* report.py has the files of a study, and the lines on its findings (`minidem.scenarios.papers`).
* progress.py has the line on the screen. Ctrl-C and SIGTERM are looked at between two pieces of a run.

A file exists whole or not at all: tables grow by whole rows, all else is replaced; the checkpoint comes last.
'''
from minidem.initial import Inlet, Outlet, place, place_densely, random_directions, random_orientations
from minidem.scenario.options import at_least, finite, positive
from minidem.scenario.report import Report
from minidem.scenario.scenario import Observable, Scenario, outflow, settled

__all__ = ["Inlet", "Observable", "Outlet", "Report", "Scenario", "at_least", "finite", "outflow", "place",
           "place_densely", "positive", "random_directions", "random_orientations", "settled"]
