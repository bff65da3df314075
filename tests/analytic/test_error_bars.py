"""Error bars: how often the true value is inside, and which verdicts are given, for numbers and for scenes."""
import numpy as np
import pytest

import minidem as md
from minidem.accuracy import error_bar
from minidem.initial import place, random_directions

STEPS = np.array([1.0, 0.5, 0.25])
MANY = pytest.mark.slow


def part_inside(bars, true):
    inside = np.mean([abs(bar.value - true) <= bar.error for bar in bars])
    print(f"{inside:.1%} of {len(bars)} bars have {true:g}, median bar {np.median([bar.error for bar in bars]):.1e}")
    return inside


def words(bars):
    return {word: sum(bar.verdict == word for bar in bars) for word in {bar.verdict for bar in bars}}


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4, 1e-2, 1e-1])
@pytest.mark.parametrize("power", [3, 4])
def test_numbers_of_second_order(noise, power):
    """value + b h^2 + c h^power, b and c normal, which are large at the coarsest step, and runs that scatter."""
    rng, bars = np.random.default_rng(1), []
    for _ in range(400):
        b, c = 1e-2 * rng.normal(size=2)
        bars.append(error_bar(1.0 + (b * STEPS ** 2 + c * STEPS ** power)[:, None] + noise * rng.normal(size=(3, 8)),
                              STEPS))
    assert 0.9 <= part_inside(bars, 1.0) <= 0.99


def test_numbers_of_other_orders():
    rng = np.random.default_rng(1)
    first = error_bar(1.0 + 1e-2 * STEPS[:, None] + 1e-6 * rng.normal(size=(3, 8)), STEPS)
    assert first.verdict == "not converged" and first.order == pytest.approx(1.0, abs=0.01)
    assert first.order_error < 0.01 and abs(first.value - 1.0) < first.error
    assert "1.00 ± 0.00 instead of 2" in str(first)
    assert error_bar(1.0 + 1e-2 * STEPS[:, None] + np.zeros((3, 2)), STEPS, order=1.0).verdict == "converged"
    same = error_bar(np.full((3, 2), 0.3), STEPS)
    assert (same.value, same.verdict, same.reason) == (0.3, "converged", "to rounding") and same.error < 1e-15
    # The phase of the first contact within its step: the error is of second order, and its sign random.
    phases = [error_bar(1.0 + 1e-2 * (STEPS ** 2)[:, None] * rng.uniform(-1, 1, (3, 8)), STEPS) for _ in range(200)]
    assert 0.9 <= part_inside(phases, 1.0) <= 0.99


def test_what_a_tolerance_needs():
    rng = np.random.default_rng(1)
    noisy = 1.0 + 0.1 * rng.normal(size=(3, 8))
    few = error_bar(noisy, STEPS, tolerance=0.01)
    assert few.verdict == "not enough samples" and "runs of each step" in few.reason
    need = int(float(few.reason.split("about ")[1].split()[0]))
    many = error_bar(1.0 + 0.1 * rng.normal(size=(3, 2 * need)), STEPS, tolerance=0.01)
    assert many.verdict == "chaotic" and many.sampling < 0.01
    coarse = error_bar(1.0 + 0.1 * STEPS[:, None] ** 1.0 + np.zeros((3, 2)), STEPS, tolerance=0.01)
    assert coarse.verdict == "not converged" and "times smaller" in coarse.reason


@pytest.mark.parametrize("values, steps, words", [
    (np.zeros((2, 3)), STEPS[:2], "three or more"), (np.zeros((3, 3)), [1.0, 0.5, 0.2], "same factor"),
    (np.zeros((3, 1)), STEPS, "two or more"), (np.zeros((3, 3)), STEPS[::-1], "smaller than the one before")])
def test_what_is_refused(values, steps, words):
    with pytest.raises(ValueError, match=words):
        error_bar(values, steps)


@pytest.mark.parametrize("found, words", [({}, "observables: return"), ({"one": 1.0, "two": np.nan}, "two: return")])
def test_numbers_that_there_are_not(found, words):
    with pytest.raises(RuntimeError, match=words):
        md.verify(lambda: md.Simulation(md.Material(1e8, 0.2), dt=1e-4), lambda sim: found, seeds=2)


ROD = md.ClumpTemplate([(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], [0.03] * 3, density=2500.0)
TOP = md.ClumpTemplate([(0, 0, 0), (0.05, 0, 0), (0.02, 0.04, 0)], [0.04, 0.02, 0.03], density=2500.0)
BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0)


def bars_of(build, observables, trials, **options):
    """The bars of the first observable, of scenes whose seeds do not overlap."""
    found = []
    for trial in range(trials):
        seen = md.verify(lambda seed, trial=trial: build(1000 * trial + seed), lambda sim: observables(sim), **options)
        found.append(next(iter(seen.bars.values())))
    return found


def impact(contact, steps_per_contact):
    """A ball meets a wall at a random distance and with a random speed."""
    def build(seed):
        rng = np.random.default_rng(seed)
        glass = md.Material(1e8, 0.2, restitution=0.6)
        speed = rng.uniform(0.5, 2.0)
        duration = 2.87 * (BALL.mass ** 2 / (0.01 * (md.effective_modulus(glass, glass)) ** 2 * speed)) ** 0.2
        sim = md.Simulation(glass, [md.Plane((0, 0, 0), (0, 0, 1))], contact=contact, dt=duration / steps_per_contact)
        sim.add_clumps(BALL, (0.0, 0.0, 0.01 + rng.uniform(0.2, 1.2) * 2e-4), velocity=(0.0, 0.0, -speed))
        return sim
    return build


def rebound(sim):
    before = -sim.velocity[0, 2]
    while sim.velocity[0, 2] < 0.0 or len(sim.contacts()):
        sim.run(10)
    return {"restitution": sim.velocity[0, 2] / before}


@pytest.mark.parametrize("steps_per_contact, trials", [(20, 10), *(pytest.param(*case, marks=MANY) for case in (
    (20, 200), (100, 200)))])
def test_restitution(steps_per_contact, trials):
    bars = bars_of(impact("hertz-mindlin", steps_per_contact), rebound, trials)
    assert 0.9 <= part_inside(bars, 0.6) and words(bars).get("not converged", 0) <= 0.1 * trials, words(bars)
    assert max(bar.error for bar in bars) < 0.6 * 4.0 / steps_per_contact ** 1.5


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-6])
def test_the_suggested_step_meets_the_tolerance(tolerance):
    """Of a ball that falls and bounces: the height is that of a hundred times finer steps."""
    def build(dt=None):
        sim = md.Simulation(md.Material(1e7, 0.2, restitution=0.6), [md.Plane((0, 0, 0), (0, 0, 1))],
                            contact="hertz-mindlin", dt=dt or 4e-5, gravity=(0.0, 0.0, -9.81))
        sim.add_clumps(BALL, (0.0, 0.0, 0.02))
        return sim

    def height(sim):
        sim.run_until(0.08)
        return {"height": sim.position[0, 2]}

    found = md.suggest_step(lambda: build(), lambda sim: height(sim), tolerance=tolerance, seeds=2)
    step = 0.08 / np.ceil(0.08 / found.dt)
    exact, reached = height(build(4e-7))["height"], height(build(step))["height"]
    assert abs(reached / exact - 1.0) <= tolerance and f"dt = {found.dt:.2g} s" in str(found)
    assert found.dt == 4e-5 if tolerance == 1e-2 else 1e-6 < found.dt < 4e-5
    assert "nothing touches at the end" in str(found) and "with 7 runs" in str(found)


def test_the_suggested_step_is_stable():
    """Of a ball at rest on linear springs, whatever the tolerance."""
    def build():
        sim = md.Simulation(md.Material(1e7, 0.2), [md.Plane((0, 0, 0), (0, 0, 1))], contact="hooke:stiffness=1e4",
                            dt=3e-4, gravity=(0.0, 0.0, -9.81))
        sim.add_clumps(BALL, (0.0, 0.0, 0.01 - BALL.mass * 9.81 / 1e4))
        return sim

    def height(sim):
        sim.run_until(0.03)
        return {"height": sim.position[0, 2]}

    found = md.suggest_step(lambda: build(), lambda sim: height(sim), tolerance=0.1, seeds=2)
    assert found.stable == pytest.approx(2.0 * (BALL.mass / 1e4) ** 0.5, rel=1e-9)
    assert found.dt == min(3e-4, found.stable) and f"stable up to {found.stable:.2g} s" in str(found)


LARGE = pytest.mark.filterwarnings("ignore:dt = ")      # nothing touches here


def free_top(scheme, step):
    def build(seed):
        sim = md.Simulation(md.Material(1e8, 0.2), rotation=scheme, dt=step)
        sim.add_clumps(TOP, (0.0, 0.0, 0.0), angular_velocity=random_directions(1, np.random.default_rng(seed))[0])
        return sim
    return build


def precession(sim):
    """Difference of a component of the angular velocity after 3 s to the exact solution."""
    exact = md.Simulation(sim.material, rotation="exact", dt=sim.dt)
    exact.add_clumps(TOP, sim.position, sim.orientation, angular_velocity=sim.angular_velocity)
    for one in (sim, exact):
        one.run_until(3.0)
    return {"difference": 1.0 + sim.angular_velocity[0, 0] - exact.angular_velocity[0, 0]}


@LARGE
@pytest.mark.parametrize("step, trials", [(0.1, 5), *(pytest.param(*case, marks=MANY) for case in (
    (0.03, 200), (0.3, 200)))])
def test_free_top(step, trials):
    assert 0.9 <= part_inside(bars_of(free_top("spiral", step), precession, trials), 1.0)


@LARGE
def test_a_scheme_of_first_order_is_seen():
    for state in range(3):
        bars = md.verify(lambda: free_top("euler", 0.03)(state), lambda sim: precession(sim), seeds=2).bars
        assert bars["difference"].verdict == "not converged"
        assert bars["difference"].order == pytest.approx(1.0, abs=0.3)


def gas(rods, step):
    """Elastic rods in a box, whose spin about their axes is zero and remains so."""
    def build(seed):
        rng, side = np.random.default_rng(seed), 0.14 * rods ** (1 / 3)
        (position, orientation), = place([ROD], [rods], (0, 0, 0), (side,) * 3, rng)
        sim = md.Simulation(md.Material(1e7, 0.2), md.box_walls((0, 0, 0), (side,) * 3), dt=step, threads=1)
        sim.add_clumps(ROD, position, orientation, velocity=random_directions(rods, rng))
        return sim
    return build


def share(sim):
    """Mean share of the rotation in the kinetic energy after the first second."""
    shares = []
    sim.run_until(1.0)
    sim.run_until(3.0, every=round(0.02 / sim.dt), callback=lambda sim: shares.append(
        sim.energy().rotational / sim.energy().kinetic))
    return {"share": np.mean(shares)}


@MANY
def test_equipartition_of_a_chaotic_gas():
    """Two of five degrees of freedom of a rod are rotations."""
    bars = bars_of(gas(8, 1e-4), share, 200)
    assert 0.9 <= part_inside(bars, 0.4) and words(bars).get("chaotic", 0) >= 160, words(bars)


def test_a_chaotic_bed_is_called_so_from_rounding_alone():
    def flight(sim):
        sim.run_until(0.2)
        return {"height": sim.position[0, 2]}

    assert md.verify(lambda: gas(8, 1e-4)(1), share, seeds=3).bars["share"].verdict == "chaotic"
    quiet = md.verify(lambda: impact("hertz-mindlin", 100)(1), lambda sim: flight(sim), seeds=3).bars["height"]
    assert quiet.verdict == "converged" and quiet.sampling < 1e-9


def bed(rotation):
    """Rods that fall into a box."""
    rod, side, count = md.ClumpTemplate([(-0.02, 0, 0), (0, 0, 0), (0.02, 0, 0)], [0.01] * 3, density=2500.0), 0.14, 260

    def build(seed):
        rng = np.random.default_rng(seed)
        (position, orientation), = place([rod], [count], (0, 0, 0), (side, side, 1.2), rng)
        rough = md.Material(young=1e7, poisson=0.2, restitution=0.5, friction=0.4)
        sim = md.Simulation(rough, md.box_walls((0, 0, 0), (side, side, 1.3)), rotation=rotation, dt=1.6e-4, threads=1,
                            contact="hertz-mindlin:rolling=epsd", gravity=(0, 0, -9.81))
        sim.add_clumps(rod, position, orientation, velocity=0.5 * random_directions(count, rng))
        return sim
    return build


def packing(sim):
    sim.run_until(1.6)
    return {"fraction": md.analysis.solid_fraction(sim, low=(0.02, 0.02, 0.02), high=(0.12, 0.12, 0.08)).value,
            "height": sim.position[:, 2].mean(), "coordination": sim.coordination_number()}


@MANY
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("scheme", ["spiral", "spiral:inner=rk4", "fincham-published", "euler"])
def test_no_integrator_packs_better(scheme):
    here, exact = (md.verify(bed(name), lambda sim: packing(sim)).bars for name in (scheme, "exact"))
    print(f"{scheme}: {here}\nexact: {exact}")
    for name, bar in here.items():
        assert abs(bar.value - exact[name].value) <= 1.5 * np.hypot(bar.error, exact[name].error), (name, bar)
    assert here["fraction"].error < 0.03


def incline(steps_per_period, slides):
    """A sphere at rest on a plane is let go under a tilted gravity; linear springs without dashpots.

    The contact point oscillates about rolling, at w^2 = 3.5 k_t / m, unless the spring reaches friction.
    """
    def build(seed):
        rng, k, g = np.random.default_rng(seed), 1e4, 9.81
        tilt = rng.uniform(0.2, 0.4)
        period = 2.0 * np.pi * np.sqrt(BALL.mass / k)           # 3.5 k_t = k
        friction = 2.0 / 7.0 * np.tan(tilt) * (rng.uniform(0.4, 1.0) if slides else 4.0)
        sim = md.Simulation(md.Material(1e7, 0.2, friction=friction), [md.Plane((0, 0, 0), (0, 0, 1))],
                            contact=f"hooke-coulomb:stiffness={k:g},tangential_stiffness={2 / 7}",
                            dt=period / steps_per_period, gravity=(g * np.sin(tilt), 0.0, -g * np.cos(tilt)), threads=1)
        sim.add_clumps(BALL, (0.0, 0.0, 0.01 - BALL.mass * g * np.cos(tilt) / k))
        return sim
    return build


def rolled(sim):
    """The velocity after about 8 periods over the exact one: 5/7 g sin a t of rolling, and what oscillates or slides.

    With the radius less the overlap for a lever, 5/7 is q / (1 + q), q = 5/2 (1 - d / R)^2.
    """
    pull, load, friction = sim.gravity[0], -sim.gravity[2], sim.material.friction
    q = 2.5 * (1.0 - BALL.mass * load / 1e4 / 0.01) ** 2
    w = np.sqrt((1.0 + q) * 2.0 / 7.0 * 1e4 / BALL.mass)
    time = 2.0 * np.pi * np.sqrt(BALL.mass / 1e4) * (8.0 + int(1e6 * pull) % 20 / 20.0)     # at any phase
    sim.run_until(time)
    most = (1.0 + q) * friction * load / pull                   # the largest spring over that of rolling
    sticks = time if most >= 2.0 else np.arccos(1.0 - most) / w
    exact = pull * (q * sticks + np.sin(w * sticks) / w) / (1.0 + q) + (pull - friction * load) * (time - sticks)
    return {"velocity": sim.velocity[0, 0] / exact}


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("steps, trials", [(20, 10), *(pytest.param(*case, marks=MANY) for case in (
    (20, 200), (100, 200)))])
def test_incline(slides, steps, trials):
    bars = bars_of(incline(steps, slides), rolled, trials)
    print(words(bars))
    least, most = (0.9, 0.99) if trials == 200 else (0.7, 1.0)      # seven of ten or more in 98.7 % of tries
    assert least <= part_inside(bars, 1.0) <= most, words(bars)


SIDE, SPEED, DEEPEST = 0.06, 2.0, 2e-3      # of a periodic box [m]; of two balls, relative [m/s]; overlap head on [m]
CONTACT = 2.94 * DEEPEST / SPEED            # duration [s]


def two_balls(steps_per_contact):
    """The smallest gas: two elastic balls in a periodic box, with a total momentum of zero."""
    energy = 0.25 * BALL.mass * SPEED ** 2
    modulus = 0.75 * 2.5 * energy / DEEPEST ** 2.5 / np.sqrt(0.005)                 # U = 8/15 E* sqrt(R*) d^2.5

    def build(seed):
        rng = np.random.default_rng(seed)
        sim = md.Simulation(md.Material(2.0 * (1.0 - 0.2 ** 2) * modulus, 0.2), dt=CONTACT / steps_per_contact,
                            periodic=((0, 0, 0), (SIDE,) * 3, (True,) * 3), threads=1)
        apart = np.zeros(3)
        while np.linalg.norm(apart) < 0.02:
            apart = rng.uniform(-0.5 * SIDE, 0.5 * SIDE, 3)
        towards = 0.5 * SPEED * random_directions(1, rng)[0]
        sim.add_clumps(BALL, [(0.5 * SIDE,) * 3, 0.5 * SIDE + apart], velocity=[towards, -towards])
        return sim
    return build


def collisions(sim):
    """Collisions per second in 1 s: changes of the velocity between samples without contact.

    After a collision the balls move by SIDE - 0.04 at least until the next one, in 0.01 s.
    """
    free = []

    def look(sim):
        if not len(sim.contacts()):
            free.append(sim.velocity[0].copy())

    look(sim)
    sim.run_until(1.0, every=int(0.008 / sim.dt), callback=look)
    return {"rate": np.count_nonzero(np.abs(np.diff(free, axis=0)).max(axis=1) > 1e-7) / sim.time}


def exact_rate():
    """Flux into the sphere in which the balls touch, over the phase space; exact for any density and softness.

    At an overlap with a potential U the phase space has the density sqrt(1 - U / E) of a gas of the energy E.
    """
    overlap = (np.arange(100_000) + 0.5) * DEEPEST / 100_000
    soft = np.sum(4.0 * np.pi * (0.02 - overlap) ** 2 * np.sqrt(1.0 - (overlap / DEEPEST) ** 2.5)) * DEEPEST / 100_000
    return np.pi * 0.02 ** 2 * SPEED / (SIDE ** 3 - 4.0 / 3.0 * np.pi * 0.02 ** 3 + soft)


@MANY
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("steps", [8, 25])
def test_rate_of_collisions(steps):
    """A factor of 1.18 above the rate of a dilute gas by the density, and of 0.96 by softness."""
    bars = bars_of(two_balls(steps), collisions, 200)
    mean, error = np.mean([bar.value for bar in bars]), np.std([bar.value for bar in bars]) / np.sqrt(200)
    print(f"mean of all {mean:.3f} ± {error:.3f}, exact {exact_rate():.3f}; {words(bars)}")
    assert 0.9 <= part_inside(bars, exact_rate()) <= 0.99 and abs(mean - exact_rate()) < 3.0 * error


def column(steps_per_period):
    """An oedometer: five balls between two plates, on linear springs; the upper plate begins to move."""
    def build(seed):
        rng, spacing = np.random.default_rng(seed), 0.02 - 1e-4
        plates = [md.Plane((0, 0, 1e-4 - 0.01), (0, 0, 1)), md.Plane(
            (0, 0, 4 * spacing + 0.01 - 1e-4), (0, 0, -1), velocity=(0, 0, -rng.uniform(0.005, 0.02)))]
        sim = md.Simulation(md.Material(1e7, 0.2), plates, contact="hooke:stiffness=1e5", threads=1,
                            dt=2.0 * np.pi * np.sqrt(BALL.mass / 1e5) / steps_per_period)
        sim.add_clumps(BALL, [(0, 0, spacing * k) for k in range(5)])
        return sim
    return build


def pressed(sim):
    """Force on the lower plate over the exact one: k V t / 6 more than at first, and what the five modes add."""
    speed, w = -sim.walls[1].velocity[2], np.sqrt(1e5 / BALL.mass)
    squares, modes = np.linalg.eigh(2.0 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1))
    time = 2.0 * np.pi / w * (5.0 + int(1e8 * speed) % 20 / 20.0)                           # at any phase
    sim.run_until(time)
    swing = modes[0] @ (np.sin(w * np.sqrt(squares) * time) / (w * np.sqrt(squares)) * (modes.T @ np.arange(1, 6)))
    return {"force": (1e-4 - sim.position[0, 2]) / (1e-4 + speed / 6.0 * (time - swing))}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("steps, trials", [(20, 10), *(pytest.param(*case, marks=MANY) for case in (
    (20, 200), (100, 200)))])
def test_oedometer(steps, trials):
    bars = bars_of(column(steps), pressed, trials)
    print(words(bars))
    least, most = (0.9, 0.99) if trials == 200 else (0.7, 1.0)      # seven of ten or more in 98.7 % of tries
    assert least <= part_inside(bars, 1.0) <= most, words(bars)
