"""Where the time of a step goes, and what bounds each phase."""

from benchmarking.counting import demands, working_set

COLUMNS = ("phase", "cpu us", "ns", "bytes", "GB/s", "memory", "flops", "GFlop/s", "arithmetic", "bound by")
MOST = 0.5          # of a phase's time: from there on a bound explains it


def level_of(core, size):
    """Where `size` bytes find room: the smallest cache that holds them, or "memory"."""
    fitting = [name for name, room in sorted(core["caches"].items()) if size <= room]
    return fitting[0] if fitting else "memory"


def phases(row):
    """Table of a row, (level of memory, lines); ns, bytes and flops are per sphere and step.

    "memory" and "arithmetic" are the shares of the phase's time that its bytes need at the bandwidth of the
    level, and its operations at the rate of a matrix product. Nothing is counted for more threads or other
    integrators, and no bandwidth is known of the first cache: dashes.
    """
    core, spheres = row["core"], row["spheres"]
    level = level_of(core, working_set(row))
    counted = demands(row) if row["threads"] == 1 and row["integrator"] == "spiral" else {}
    lines = []
    for name, us in row["phases_us"].items():
        line = [name, f"{us:.4g}", f"{1e3 * us / spheres:.3g}"]
        if name in counted and us > 0.0:
            n_bytes, flops = counted[name]
            bandwidth = core["bytes_per_second"].get(level)
            by_memory = 1e6 * n_bytes / bandwidth / us if bandwidth else None
            by_flops = 1e6 * flops / core["operations_per_second"] / us
            line += [f"{n_bytes / spheres:.3g}", f"{1e-3 * n_bytes / us:.3g}", percent(by_memory),
                     f"{flops / spheres:.3g}", f"{1e-3 * flops / us:.3g}", percent(by_flops),
                     bound(by_memory, by_flops, level)]
        else:
            line += (len(COLUMNS) - len(line)) * ["-"]
        lines.append(tuple(line))
        if name == "blocks" and row["threads"] == 1:
            lines += parts_of_blocks(row, us)
    total = sum(row["phases_us"].values())
    lines.append(("sum", f"{total:.4g}", f"{1e3 * total / spheres:.3g}", *(len(COLUMNS) - 3) * ["-"]))
    return level, lines


def percent(share):
    return "-" if share is None else f"{share:.0%}"


def bound(by_memory, by_flops, level):
    """What explains at least half the time; else what no throughput explains: waiting for results, wrong
    guesses of branches and, in small systems, what every step costs whatever it holds."""
    share, what = max((by_memory or 0.0, f"bytes from {level}"), (by_flops, "arithmetic"))
    return what if share >= MOST else "latency, fixed costs"


def parts_of_blocks(row, us):
    """Rotation and pose on their own, and the rest; timers within a block would cost more than they time."""
    posed = row["lists"]["active_slots"] / row["spheres"]
    parts = {"- rotation": row["rotation_us"], "- pose": row["pose_us"] * posed}
    parts["- the rest"] = us - sum(parts.values())
    return [(name, f"{part:.4g}", f"{1e3 * part / row['spheres']:.3g}", *(len(COLUMNS) - 3) * ["-"])
            for name, part in parts.items()]
