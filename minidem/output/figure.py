"""Figures, in one style. Without matplotlib (the extra `viz`) none are drawn."""
from minidem.core.atomic import replacing

# Okabe and Ito's palette for colour-blind readers, then seven darker colours for pictures with many curves; line styles
# repeat the distinction.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
           "#882255", "#332288", "#999933", "#8C8C8C", "#44AA99", "#7A4419", "#AA4499")
STYLES = ("-", "--", "-.", ":")
LOOK = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
        "axes.axisbelow": True, "axes.formatter.use_mathtext": True, "axes.formatter.useoffset": False,
        "axes.formatter.min_exponent": 5,       # numbers such as 0.05 or 200 on logarithmic axes, not powers of ten
        "grid.color": "0.9", "lines.linewidth": 1.2, "legend.frameon": False, "savefig.dpi": 200}


def styles(number):
    """(colour, line style) of each of `number` curves: colours are distinct for up to 14, with line styles for 28."""
    return [(COLOURS[k % len(COLOURS)], STYLES[k % len(STYLES)]) for k in range(number)]


def save(path, size, draw):
    """Draw a figure of a size [inches] by draw(figure) and write it atomically; False without matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return False
    with matplotlib.rc_context(LOOK), replacing(path) as temporary:
        figure = Figure(figsize=size, layout="constrained")     # not by pyplot, which needs a display
        draw(figure)
        figure.savefig(temporary)
    return True
