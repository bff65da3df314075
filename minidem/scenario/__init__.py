'''Scenario scripts: command line, tables, frames, checkpoints, figures, comparisons.

A scenario is a function from options to a Simulation, with a name and defaults::

    """Two balls meet head on."""
    import sys
    import minidem as md
    from minidem.scenario import Scenario, positive

    def add_options(group):
        group.add_argument("--speed", type=positive, default=1.0, help="of each ball [m/s] (default: 1)")

    def build(options):
        ball = md.ClumpTemplate([(0, 0, 0)], [0.03], density=2500.0)
        sim = md.Simulation(md.Material(young=1e9, poisson=0.1), contact=options.contact, dt=options.dt)
        sim.add_clumps(ball, [(-0.2, 0, 0), (0.2, 0, 0)], velocity=[(options.speed, 0, 0), (-options.speed, 0, 0)])
        return sim

    main = Scenario("two_balls", __doc__, build, {"contact": "hertz", "dt": 1e-5, "time": 1.0}, add_options).main

    if __name__ == "__main__":
        sys.exit(main())

A file exists whole or not at all: tables grow by whole rows, all else is replaced.
'''
from minidem.initial import Inlet, Outlet, place, place_densely, random_directions, random_orientations
from minidem.scenario.options import at_least, finite, positive
from minidem.scenario.phases import phases
from minidem.scenario.report import Report
from minidem.scenario.scenario import Observable, Scenario, outflow, settled

__all__ = ["Inlet", "Observable", "Outlet", "Report", "Scenario", "at_least", "finite", "outflow", "phases",
           "place", "place_densely", "positive", "random_directions", "random_orientations", "settled"]
