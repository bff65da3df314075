'''What all scenario scripts share: options, tables, frames, checkpoints, pictures, comparison of integrators.

A scenario is a function from options to a Simulation, and a few words. This is a whole one:

    """Two rods meet head on."""
    import sys
    import minidem as md
    from minidem.scenario import Scenario, positive

    def add_options(group):
        group.add_argument("--speed", type=positive, default=1.0, help="of each rod [m/s] (default:
        %(default)s)")

    def build(options):
        rod = md.ClumpTemplate([(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], [0.03] * 3, density=2500.0)
        sim = md.Simulation(material=md.Material(young=1e9, poisson=0.1), walls=md.box((0, 0, 0), (1, 1, 1)),
                            rotation=options.integrator, dt=options.dt, threads=options.threads)
        v = options.speed
        sim.add_clumps(rod, [(0.2, 0.5, 0.5), (0.8, 0.55, 0.5)], [(1, 0, 0, 0)] * 2, [(v, 0, 0), (-v, 0, 0)],
                       [(0, 0, 0)] * 2)
        return sim

    main = Scenario("two_rods", __doc__, build, {"integrator": "spiral", "dt": 1e-5, "time": 1.0},
    add_options).main

    if __name__ == "__main__":
        sys.exit(main())

The way of a run: options.py reads the command line, scenario.py sets up one run or several to compare, run.py
advances each and records it (recorder.py, schedule.py, folder.py, interrupt.py, progress.py), summary.py and
plot.py tell what came of it. placement.py puts clumps into a box at random, without overlap.
'''

from minidem.scenario.options import at_least, finite, positive
from minidem.scenario.placement import place, random_directions, random_orientations
from minidem.scenario.scenario import Observable, Scenario

__all__ = ["Observable", "Scenario", "at_least", "finite", "place", "positive", "random_directions",
           "random_orientations"]
