"""The picture: cost against size and against threads, from the newest rows of a file."""

from minidem.scenario.plot import COLOURS, STYLES, save


def newest(rows):
    """The last row of each case and number of threads, in the order of size and threads; those of
    --throughput are left out."""
    last = {(row["case"], row["threads"]): row for row in rows if "throughput" not in row}
    return sorted(last.values(), key=lambda row: (row["spheres"], row["threads"]))


def draw(path, rows):
    """Write the picture; False without matplotlib.

    Left: ns per sphere and step against the number of spheres, a curve for each family of cases and number of
    threads. Right: speed against threads, relative to the fewest there are, a curve for each case that ran
    with several; the thin line is as many times the speed. Bars go from the fastest to the slowest repeat.
    """
    rows = newest(rows)
    threads, families, cases = (sorted({row[key] for row in rows}) for key in ("threads", "family", "case"))

    def fill(figure):
        by_size, by_threads = figure.subplots(1, 2, width_ratios=(3, 2))
        for k, family in enumerate(families):
            for m, number in enumerate(threads):
                curve = [row for row in rows if (row["family"], row["threads"]) == (family, number)]
                if curve:
                    plot(by_size, curve, "spheres", [row["ns_per_sphere_step"] for row in curve], k, m,
                         f"{family}, {number} thread{'s' if number > 1 else ''}")
        for case in cases:
            row = next(row for row in rows if row["case"] == case)
            by_size.annotate(case, (row["spheres"], row["ns_per_sphere_step"]["median"]), xytext=(5, 5),
                             textcoords="offset points")
        by_size.set(xscale="log", yscale="log", xlabel="spheres", ylabel="ns per sphere and step")
        for k, case in enumerate(cases):
            curve = [row for row in rows if row["case"] == case]
            if len(curve) > 1:
                plot(by_threads, curve, "threads", speeds(curve), k, 0, f"case {case}")
        by_threads.plot(threads, [number / threads[0] for number in threads], color="0.7", linewidth=0.8)
        by_threads.set(xlabel="threads", ylabel=f"speed, relative to {threads[0]}", xticks=threads)
        for panel in (by_size, by_threads):
            if panel.get_legend_handles_labels()[0]:
                panel.legend(fontsize=7)

    return save(path, (7.5, 3.6), fill)


def speeds(rows):
    """Of each row, relative to the median of the first."""
    base, times = rows[0]["us_per_step"]["median"], [row["us_per_step"] for row in rows]
    return [{"median": base / t["median"], "min": base / t["max"], "max": base / t["min"]} for t in times]


def plot(panel, rows, abscissa, values, colour, style, label):
    """A curve with bars; values: median, min and max for each row."""
    middle = [v["median"] for v in values]
    reach = [[v["median"] - v["min"] for v in values], [v["max"] - v["median"] for v in values]]
    panel.errorbar([row[abscissa] for row in rows], middle, reach, color=COLOURS[colour % len(COLOURS)],
                   linestyle=STYLES[style % len(STYLES)], marker="o", markersize=3, elinewidth=0.8,
                   label=label)
