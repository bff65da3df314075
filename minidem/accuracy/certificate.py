"""Certificates: proof that a run gave what is published, which others repeat link by link on their machines.

A link is the state at a step: digests of the state and of a checkpoint of it, chained to all before. Results have equal
bits for any number of threads, instruction set and division of a run. So whoever runs from one checkpoint to the step
of the next finds the digest of the next link, or the first link that does not hold.
"""
from __future__ import annotations

import argparse
import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from minidem.core.atomic import replace_text
from minidem.core.build_record import build_info
from minidem.core.checks import existing_file, file_path, list_of, whole
from minidem.core.progress import Line, say
from minidem.output import checkpoint
from minidem.simulation import Simulation

FORMAT = 1                      # of the file, and of what a digest contains
START = hashlib.sha256(b"minidem certificate").hexdigest()
SEEN = "position", "orientation", "velocity", "angular_velocity", "force", "torque"    # in the message of a difference


class Certificate:
    """A chain of digests and checkpoints: a callback of `Simulation.run`, after a first call at the start.

    A second call at the same step writes nothing. `python -m minidem verify FILE` runs the links again.

    Parameters
    ----------
    path : path
        NAME.json, which is written at each call; the folder NAME.checkpoints beside it gets a checkpoint each time.
    outside : list of callable, optional
        Functions of yours that act on the simulation, such as user forces and other callbacks. The certificate names
        them, with a digest of their source; they are not proved.

    Raises
    ------
    ValueError
        For another suffix. In a call, if the state is not finite.
    """

    def __init__(self, path: str | Path, *, outside: Iterable[Callable] = ()):
        self.path = file_path("path", path, ".json")
        self.folder = self.path.with_suffix(".checkpoints")
        self.outside = {getattr(one, "__qualname__", repr(type(one))): _source(one)
                        for one in list_of(object, "outside", outside, "give functions")}
        self.links: list[dict] = []

    def __call__(self, sim: Simulation) -> None:
        if self.links and self.links[-1]["step"] == sim.step_count:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        file, energy = f"{sim.step_count}.npz", sim.energy()
        sim.save(self.folder / file)
        link = {"step": sim.step_count, "time": sim.time, "total": energy.total, "balance": energy.balance,
                "file": file, "checkpoint": _of_file(self.folder / file), "state": state_digest(sim)}
        self.links.append(link | {"chain": _chained(self.links[-1]["chain"] if self.links else START, link)})
        forces = {f"user force {k}": _source(one) for k, one in enumerate(sim.forces.functions)}
        replace_text(self.path, json.dumps({
            "certificate": FORMAT, "build": build_info(), "outside": self.outside | forces, "links": self.links},
            indent=1) + "\n")


def state_digest(sim: Simulation) -> str:
    """SHA-256 of all that the next steps depend on, in the user's order of clumps, and of what a run has summed."""
    settings, arrays = checkpoint.pack(sim)
    del settings["callback_due"]                        # the same in and after a callback
    found = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _chained(before, link):
    """The digest of a link and of all before it."""
    text = json.dumps([before, {name: value for name, value in link.items() if name != "chain"}], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _source(function):
    """A digest of the source of a function, or why there is none."""
    try:
        return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()
    except (OSError, TypeError):
        return "not covered: it has no source"


@dataclass(frozen=True)
class Verdict:
    """What `verify_certificate` has found; print it.

    Attributes
    ----------
    checked, links : int
        Links that were run again, and all.
    problems : tuple of str
        What does not hold; empty: the certificate holds.
    outside : tuple of str
        Names of what is not proved.
    """

    checked: int
    links: int
    problems: tuple[str, ...]
    outside: tuple[str, ...]

    def __repr__(self):
        lines = self.problems or (f"The certificate holds: {self.checked} of {self.links} links were run again, with "
                                  "equal bits.",)
        return "\n".join([*lines, *[f"Not proved: {', '.join(self.outside)}."][:len(self.outside)]])


def verify_certificate(path: str | Path, *, links: Iterable[int] | None = None, threads: int | None = None,
                       prepare: Callable | None = None, report: Callable[[float], None] = lambda part: None) -> Verdict:
    """Check the chain of a certificate, and run links again.

    Parameters
    ----------
    path : path
        NAME.json of a `Certificate`, with its folder NAME.checkpoints.
    links : list of int, optional
        Numbers of the links to run, from 1 on; [] : none. Default: all.
    threads : int, optional
        As of `Simulation`; bits do not depend on it.
    prepare : callable, optional
        prepare(sim) adds user forces to a simulation that was loaded.
    report : callable, optional
        report(part) is called with the part that is done.

    Returns
    -------
    Verdict
        Of a link that does not hold: the steps, and the first quantity and clump that differ.

    Raises
    ------
    ValueError
        For a file that is no certificate, or a link that there is not.
    """
    path = existing_file("path", path, "give the file NAME.json of a Certificate")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        chain, outside = record["links"], tuple(record["outside"])
        known = record["certificate"] == FORMAT and all(
            link.keys() >= {"step", "file", "checkpoint", "state", "chain"} for link in chain)
    except (ValueError, TypeError, KeyError, AttributeError):
        known = False
    if not known or not chain:
        raise ValueError(f"{path}: no certificate of format {FORMAT}; give the file NAME.json of a Certificate")
    chosen = range(1, len(chain)) if links is None else [
        whole("links", one, 1, len(chain) - 1) for one in links]
    folder, problems, before = path.with_suffix(".checkpoints"), [], START
    for k, link in enumerate(chain):
        before = _chained(before, link)
        if before != link["chain"]:
            problems.append(f"Link {k} (step {link['step']}): it is not the link that was chained.")
            break
        if not (folder / link["file"]).exists() or _of_file(folder / link["file"]) != link["checkpoint"]:
            problems.append(f"Link {k} (step {link['step']}): {folder / link['file']} is not the checkpoint that was "
                            "certified.")
    for done, k in enumerate(chosen if not problems else ()):
        report(done / len(chosen))
        first, last = chain[k - 1], chain[k]
        name = f"Link {k} (steps {first['step']} to {last['step']})"
        try:
            sim = Simulation.load(folder / first["file"], threads=threads)
            if prepare:
                prepare(sim)
            sim.run(last["step"] - first["step"])
        except (ValueError, RuntimeError, FloatingPointError) as error:     # functions that a file does not hold
            problems.append(f"{name} cannot be run: {error}")
            continue
        if state_digest(sim) != last["state"]:
            problems.append(f"{name} does not hold: {_difference(sim, Simulation.load(folder / last['file']))}")
    return Verdict(len(chosen), len(chain) - 1, tuple(problems), outside)


def _difference(here, there):
    """The first quantity and clump that differ between two simulations."""
    if here.n_clumps != there.n_clumps:
        return f"{here.n_clumps} clumps here, {there.n_clumps} there"
    for name in SEEN:
        mine, other = getattr(here, name), getattr(there, name)
        rows = np.flatnonzero((mine != other).any(axis=1))
        if len(rows):
            return (f"{name} of clump {rows[0]} is {mine[rows[0]].tolist()} here, {other[rows[0]].tolist()} there; "
                    f"{len(rows)} clumps differ")
    return "contacts, walls or sums of energies differ"


def main(words: Sequence[str]) -> int:
    """The command `verify`; the exit status is 1 for a certificate that does not hold."""
    parser = argparse.ArgumentParser(prog="minidem verify",
                                     description="Check the chain of a certificate, and run its links again.")
    parser.add_argument("file", help="NAME.json of a certificate")
    parser.add_argument("--links", type=int, nargs="*", metavar="N", help="numbers of links, from 1 on (default: all)")
    parser.add_argument("--threads", type=int, metavar="N", help="default: all processors")
    options, line = parser.parse_args(list(words)), Line()
    verdict = verify_certificate(options.file, links=options.links, threads=options.threads,
                                 report=lambda part: line.update(f"verify: {part:.0%}", part))
    line.close()
    say(repr(verdict))
    return 1 if verdict.problems else 0
