"""Curves that a legend does not tell apart: many, or coincident ones."""
import numpy as np

from minidem.scenario.plot import LOOK


def together(curves):
    """Curves of equal points as one, with both labels: {label: array} with arrays that differ."""
    labels = {}
    for label, curve in curves.items():
        labels.setdefault(curve.tobytes(), []).append(label)
    return {", ".join(same): curves[same[0]] for same in labels.values()}


def label_ends(panel, first=False):
    """Write the label of each curve beside its last point, right of the panel, in its colour, with a line to it.

    Call it when the panel is complete. With `first` labels are left of the first points, in the panel, whose
    left limit is moved to make room for them.
    """
    curves = [line for line in panel.get_lines() if not line.get_label().startswith("_")]
    points = np.array([line.get_xydata()[np.isfinite(line.get_ydata())][0 if first else -1] for line in curves])
    panel.figure.draw_without_rendering()       # sizes of the panels
    if first:                                   # move the left limit until the widest label fits
        shown = [panel.text(0.0, 0.0, line.get_label()) for line in curves]
        width = max(text.get_window_extent().width for text in shown) / panel.get_window_extent().width
        for text in shown:
            text.remove()
        part, scale = min(width + 0.08, 0.9), panel.xaxis.get_transform()
        low, right = scale.transform([np.min(points[:, 0]), panel.get_xlim()[1]])
        panel.set_xlim(left=scale.inverted().transform((low - part * right) / (1.0 - part)))
    ends = panel.transAxes.inverted().transform(panel.transData.transform(points))
    order = np.argsort(ends[:, 1], kind="stable")
    gap = 1.3 * LOOK["font.size"] / 72.0 * panel.figure.dpi / panel.get_window_extent().height
    column = np.min(ends[:, 0]) - 0.05 if first else 1.06
    for k, place in zip(order, _spread(ends[order, 1], gap)):
        colour = curves[k].get_color()
        panel.annotate(curves[k].get_label(), points[k], (column, place), "data", "axes fraction", color=colour,
                       va="center", ha="right" if first else "left", arrowprops={
                           "arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0.0, "shrinkB": 0.0,
                           "relpos": (float(first), 0.5)})


def _spread(places, gap):
    """Ascending places moved until they are `gap` apart, as little as possible and, if they fit, within 0 and 1."""
    steps = gap * np.arange(len(places))
    upwards = np.maximum.accumulate(places - steps) + steps
    downwards = np.minimum.accumulate((places - steps)[::-1])[::-1] + steps
    return np.minimum(np.maximum(0.5 * (upwards + downwards), steps), 1.0 - steps[::-1])
