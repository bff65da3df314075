"""Pictures: numbers of axes, labels of curves, what the pictures of some scenarios say."""
import angle_of_repose as repose
import drum
import hopper
import numpy as np
import pytest

import minidem as md
from minidem.scenario import plot
from minidem.scenarios import curves

matplotlib = pytest.importorskip("matplotlib")


def drawn(draw, path):
    kept = []
    assert plot.save(path / "picture.png", (8.0, 6.0), lambda figure: (kept.append(figure), draw(figure)))
    return kept[0]


def numbers(axis):
    with matplotlib.rc_context(plot.LOOK):
        return {label.get_text() for minor in (False, True) for label in axis.get_ticklabels(minor)} - {""}


@pytest.mark.parametrize("scale, ends, shown", [
    ("log", (4.6, 10.6), {"5", "10"}), ("log", (0.05, 2000.0), {"0.1", "1", "10", "100", "1000"}),
    ("symlog", (-2.0, 90.0), {"-1", "0", "1", "10"}), ("linear", (1000.1, 1000.4), {"1000.10"}),
    ("log", (1e-9, 1e-2), {"10^{-8}"})])
def test_plain_numbers(scale, ends, shown, tmp_path):
    """Powers of ten only where numbers would be long."""
    def draw(figure):
        panel = figure.subplots()
        panel.set_xscale(scale, **({"linthresh": 1.0} if scale == "symlog" else {}))
        panel.set_xlim(ends)
    found = numbers(drawn(draw, tmp_path).axes[0].xaxis)
    assert shown <= {text.replace("$\\mathdefault{", "").replace("}$", "") for text in found}
    assert any("^" in text or "times" in text for text in found) == (ends[0] < 1e-3 and scale == "log")


def test_each_curve_has_its_label(tmp_path):
    """Beside its end, at the height of its end, in its colour; labels are apart, curves without one have none."""
    def draw(figure):
        for panel, first in zip(figure.subplots(2), (False, True)):
            for k, height in enumerate((3.0, 1.0, 2.0, 2.01)):
                panel.plot([0.0, 1.0, 2.0], [height, 5.0, np.nan if k == 2 else height], label=f"curve {k}")
            panel.axhline(0.0)
            panel.set(xlim=(-1.0, 2.0), ylim=(0.0, 6.0))
            curves.label_ends(panel, first)
    last, first = drawn(draw, tmp_path).axes
    ends = {0: 3.0, 1: 1.0, 2: 5.0, 3: 2.01}                        # the last point of curve 2 is not finite
    for panel in last, first:
        places = np.array([text.get_position() for text in panel.texts])
        assert sorted(text.get_text() for text in panel.texts) == [f"curve {k}" for k in ends]
        assert np.all(places[:, 0] > 1.0) if panel is last else np.all(places[:, 0] < 1.0 / 3.0)
        assert np.diff(np.sort(places[:, 1])).min() > 0.02
        for text in panel.texts:
            k = int(text.get_text()[-1])
            assert text.get_color() == panel.lines[k].get_color()
            assert panel is first or text.get_position()[1] == pytest.approx(ends[k] / 6.0)


def test_angle_of_repose(tmp_path):
    """A slope of 20 degrees: the line through it, and the mean angle of the last tenth."""
    x = np.linspace(0.01, 0.19, 60)
    z = 0.12 - x * np.tan(np.radians(20.0))
    sim = md.Simulation(md.Material(1e7, 0.2), contact="hertz", dt=1e-6, threads=1)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [1e-3], density=1.0), np.column_stack([x, 0.0 * x, z]))
    time = np.arange(20.0)
    history, side = drawn(lambda figure: repose.draw(figure, sim, time, 25.0 + time, slice(-2, None)), tmp_path).axes
    assert any("angle of repose 43.5°, mean of the last tenth" in text.get_text() for text in
               [history.title, *history.texts, *(history.get_legend().get_texts() if history.get_legend() else ())])
    line = next(line for line in side.lines if line.get_label().startswith("straight line"))
    assert float(line.get_label().split()[-1][:-1]) == pytest.approx(20.0, abs=1.0)
    (x0, z0), *_, (x1, z1) = line.get_xydata()
    assert np.degrees(np.arctan((z0 - z1) / (x1 - x0))) == pytest.approx(20.0, abs=1.0)


def legend(owner):
    return [text.get_text().partition(":")[0] for text in owner.get_texts()]


def test_drum_and_hopper(tmp_path):
    observed = {"time": np.arange(3.0), **{f"{name}_in_zone_{zone}": np.ones(3) for name, zone in drum.ZONES}}
    figure = drawn(lambda figure: drum.draw(figure, observed), tmp_path)
    assert [panel.get_title().partition(":")[0] for panel in figure.axes] == ["zone 1", "zone 2"]
    assert legend(figure.legends[0]) == ["M2", "M1"]
    ratio = np.array([6.0, 8.0, 11.0])
    rate = 0.02 * (ratio - hopper.K) ** 2.4
    law, _ = drawn(lambda figure: hopper.draw(figure, ratio, rate, 2.4, np.log(0.02), {6.0: np.ones((2, 2))}),
                   tmp_path).axes
    assert legend(law.get_legend()) == ["minidem", "fit, exponent 2.40", "Beverloo, exponent 5/2"]
