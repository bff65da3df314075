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
import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from minidem.core.atomic import replace_text
from minidem.core.build_record import build_info
from minidem.core.checks import existing_file, file_path, flag, short_repr, whole
from minidem.core.progress import Line, say
from minidem.ensemble import run_ensemble, worker
from minidem.output import checkpoint
from minidem.simulation import Simulation

FORMAT = 1                      # of the file, and of what a digest contains
START = hashlib.sha256(b"minidem certificate").hexdigest()
MEMBERS = {"step", "total", "balance", "file", "checkpoint", "state", "chain"}          # of a link that are read
PARTS = 100                     # of a link that is divided
SEEN = "position", "orientation", "velocity", "angular_velocity", "force", "torque"    # in the message of a difference


class Certificate:
    """A chain of digests and checkpoints: a callback of `Simulation.run`, after a first call at the start.

    A second call at the same step writes nothing. `python -m minidem verify FILE` runs the links again.

    Parameters
    ----------
    path : path
        NAME.json, which is written at each call; the folder NAME.checkpoints beside it gets a checkpoint each time.
    outside : list of callable, optional
        Functions of yours that change the simulation between steps, such as other callbacks. They are not proved. The
        certificate names them with a digest of their source, as all functions that checkpoints do not hold.
    append : bool
        Continue the certificate, if there is one, after its links up to the step of the first call. Default: replace
        it.

    Raises
    ------
    ValueError
        For another suffix. In a call, if the state is not finite, or for a file to continue that is no certificate.
    """

    def __init__(self, path: str | Path, *, outside: Iterable[Callable] = (), append: bool = False):
        self.path = file_path("path", path, ".json")
        self.folder, self._append = self.path.with_suffix(".checkpoints"), flag("append", append)
        if not isinstance(outside, Iterable):
            raise ValueError(f"outside = {short_repr(outside)}: give a list of functions")
        self.outside = {getattr(one, "__qualname__", repr(type(one))): _source(one)
                        for one in outside}
        self.links: list[dict] = []

    def __call__(self, sim: Simulation) -> None:
        if self._append and not self.links and self.path.exists():
            there, _, outside = _read(self.path)
            self.links = [link for link in there if link["step"] <= sim.step_count]
            self.outside = outside | self.outside
        if self.links and self.links[-1]["step"] == sim.step_count:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        file, energy = f"{sim.step_count}.npz", sim.energy()
        sim.save(self.folder / file)
        link = {"step": sim.step_count, "time": sim.time, "total": energy.total, "balance": energy.balance,
                "file": file, "checkpoint": _of_file(self.folder / file), "state": state_digest(sim)}
        self.links.append(link | {"chain": _chained(self.links[-1]["chain"] if self.links else START, link)})
        self.outside |= _functions(sim)
        replace_text(self.path, json.dumps({
            "certificate": FORMAT, "build": build_info(), "outside": self.outside, "links": self.links}, indent=1)
            + "\n")


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


def _functions(sim):
    """What acts on a simulation and is in no checkpoint: a digest of each by its name."""
    settings = checkpoint.pack(sim)[0]
    found = {f"{'flux' if one.is_flux else 'user force'} {k}":
             _source(one.function, one.parameters.tolist(), one.random, one.seed, one.corrections)
             for k, one in enumerate(sim.reader.user_forces.forces)}
    found |= {f"motion of wall {k}": _source(sim.walls[k].motion) for k, wall in enumerate(settings["walls"])
              if wall["motion"] == checkpoint.FUNCTION}
    if checkpoint.FUNCTION in str(settings["periodic"]):
        found["motion of the box"] = _source(sim.reader.periodic)
    registered = worker.own_names().intersection(text.partition(":")[0] for text in (sim.rotation, sim.contact))
    return found | dict.fromkeys(registered, "not covered: it was registered")


def _source(function, *given):
    """A digest of the source of a function, with numbers given to it, or why there is none."""
    try:
        return hashlib.sha256(json.dumps([inspect.getsource(function), *given]).encode()).hexdigest()
    except (OSError, TypeError):
        return "not covered: it has no source"


@dataclass(frozen=True)
class Verdict:
    """What `verify_certificate` has found; print it.

    Attributes
    ----------
    checked : tuple of int
        Numbers of the links that were run again.
    links : int
        How many there are.
    problems : tuple of str
        What does not hold; empty: the certificate holds.
    outside : tuple of str
        Names of what is not proved.
    """

    checked: tuple[int, ...]
    links: int
    problems: tuple[str, ...]
    outside: tuple[str, ...]

    def __repr__(self):
        which = f" ({', '.join(map(str, self.checked))})" if 0 < len(self.checked) < self.links else ""
        lines = self.problems or (f"The certificate holds: {len(self.checked)} of {self.links} links were run "
                                  f"again{which}, with equal bits.",)
        return "\n".join([*lines, *[f"Not proved: {', '.join(self.outside)}."][:len(self.outside)]])


def verify_certificate(path: str | Path, *, links: Iterable[int] | None = None, sample: tuple[int, int] | None = None,
                       workers: int | None = None, threads: int | None = None, load: Callable | str | None = None,
                       progress: bool = False) -> Verdict:
    """Check the chain of a certificate, and run links again.

    Parameters
    ----------
    path : path
        NAME.json of a `Certificate`, with its folder NAME.checkpoints.
    links : list of int, optional
        Numbers of the links to run, from 1 on; [] : none. Default: all.
    sample : (int, int), optional
        How many random ones to run instead, and a seed, which whoever made the certificate did not know.
    workers : int, optional
        Number of links at a time, each in a process of its own, as of `run_ensemble`. Default: one after the other in
        this process.
    threads : int, optional
        Of a link; bits do not depend on it. Default: as of `Simulation`, with `workers` one.
    load : callable or str, optional
        load(path, threads=threads) -> Simulation, which adds what files do not hold, such as user forces; or a
        Simulation and a dictionary, {"every": n, "callback": function}, with which it is run. With `workers` one that
        other processes can import, or its name, "script.py:function".
    progress : bool
        Print on standard error what is done.

    Returns
    -------
    Verdict
        Of a link that does not hold: the steps, and the first quantity and clump that differ.

    Raises
    ------
    ValueError
        For a file that is no certificate, or a link that there is not.
    """
    (chain, folder, outside), problems, before = _read(path), [], START
    last = len(chain) - 1
    chosen = list(range(1, last + 1)) if links is None else [whole("links", one, 1, last) for one in links]
    if sample is not None:
        count, seed = (whole("sample", one, 0) for one in sample)
        chosen = sorted((1 + np.random.default_rng(seed).permutation(last)[:count]).tolist())
    for k, link in enumerate(chain):
        before = _chained(before, link)
        if before != link["chain"]:
            problems.append(f"Link {k} (step {link['step']}): it is not the link that was chained.")
            break
        if not (folder / link["file"]).exists() or _of_file(folder / link["file"]) != link["checkpoint"]:
            problems.append(f"Link {k} (step {link['step']}): {folder / link['file']} is not the checkpoint that was "
                            "certified.")
    if problems or not chosen:
        return Verdict((), last, tuple(problems), tuple(outside))
    if workers is None:
        line = Line(quiet=not progress)
        try:
            for done, k in enumerate(chosen):
                line.update(f"verify: {done} of {len(chosen)} links", done / len(chosen))
                problems.append(run_link(path, k, load, threads)["problem"])
        finally:
            line.close()
    else:
        given: dict[str, Iterable] = {"path": [str(Path(path).absolute())], "link": chosen,
                 "load": [None if load is None else worker.reference_to(load)]}
        with tempfile.TemporaryDirectory() as runs:
            rows = run_ensemble(run_link, given, runs, workers, threads or 1, progress=progress)
        problems = [row["problem"] if row["error"] is None else f"Link {row['link']} cannot be run: {row['error']}"
                    for row in rows]
    return Verdict(tuple(chosen), last, tuple(filter(None, problems)), tuple(outside))


def run_link(path: str | Path, link: int, load: Callable | str | None = None, threads: int | None = None) -> dict:
    """Run a link again: {"problem": what does not hold, or None}; arguments as of `verify_certificate`."""
    chain, folder, _ = _read(path)
    first, last = chain[link - 1:link + 1]
    load, name = _loader(load), f"Link {link} (steps {first['step']} to {last['step']})"
    try:
        sim, how = load(folder / first["file"], threads=threads)
        sim.run(last["step"] - first["step"], **how)
        there, _ = load(folder / last["file"], threads=threads)
    except (ValueError, RuntimeError, FloatingPointError) as error:     # functions that a file does not hold
        return {"problem": f"{name} cannot be run: {error}"}
    if state_digest(sim) not in (last["state"], state_digest(there)):   # which differ after a change of the format
        further = f" To find the step, --divide {link} where it was made." if last["step"] > first["step"] + 1 else ""
        return {"problem": f"{name} does not hold: {_difference(sim, there)}.{further}"}
    energy = sim.energy()                               # NumPy sums it, on each machine in another order
    scale = abs(energy.potential) + energy.translational + energy.rotational + energy.elastic + abs(energy.balance)
    for sum_ in "total", "balance":
        if not math.isclose(getattr(energy, sum_), last[sum_], rel_tol=0.0, abs_tol=1e-9 * scale):
            return {"problem": f"{name} does not hold: {sum_} energy is {getattr(energy, sum_)} here, {last[sum_]} "
                    "there."}
    return {"problem": None}


def divide_link(path: str | Path, link: int, load: Callable | str | None = None, threads: int | None = None) -> Path:
    """Certify a link anew, in up to a hundred shorter ones, down to single steps; the path of the new certificate.

    ValueError if it does not hold on this machine. Arguments as of `verify_certificate`.
    """
    chain, folder, outside = _read(path)
    first, last = chain[whole("link", link, 1, len(chain) - 1) - 1:link + 1]
    new = Certificate(Path(path).with_name(f"{Path(path).stem}-{link}.json"))
    new.outside, steps = outside, last["step"] - first["step"]
    sim, how = _loader(load)(folder / first["file"], threads=threads)
    for part in range(PARTS + 1):
        sim.run(first["step"] + part * steps // PARTS - sim.step_count, **how)
        new(sim)
    if new.links[-1]["state"] != last["state"]:
        raise ValueError(f"link = {link}: it does not hold on this machine; divide it where it was made")
    return new.path


def _loader(load):
    """(path, threads) -> a Simulation, and how it is run."""
    function = worker.load(load) if isinstance(load, str) else load or Simulation.load

    def loaded(path, threads):
        found = function(path, threads=threads)
        return found if isinstance(found, tuple) else (found, {})

    return loaded


def _read(path):
    """(links, folder of checkpoints, what is outside) of a certificate; ValueError if it is none."""
    path = existing_file("path", path, "give the file NAME.json of a Certificate")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        chain, outside = record["links"], dict(record["outside"])
        known = record["certificate"] == FORMAT and all(link.keys() >= MEMBERS for link in chain)
    except (ValueError, TypeError, KeyError, AttributeError):
        known = False
    if not known or not chain:
        raise ValueError(f"{path}: no certificate of format {FORMAT}; give the file NAME.json of a Certificate")
    return chain, path.with_suffix(".checkpoints"), outside


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
    (mine, arrays), (other, others) = checkpoint.pack(here), checkpoint.pack(there)
    names = [name for name in mine if mine[name] != other.get(name) and name != "callback_due"]
    names += [name for name in arrays if not np.array_equal(arrays[name], others.get(name))]
    return f"{', '.join(names)} of the checkpoint differ"


def main(words: Sequence[str]) -> int:
    """The command `verify`; the exit status is 1 for a certificate that does not hold."""
    parser = argparse.ArgumentParser(prog="minidem verify",
                                     description="Check the chain of a certificate, and run its links again.")
    option, one = parser.add_argument, parser.add_mutually_exclusive_group().add_argument
    option("file", help="NAME.json of a certificate")
    one("--links", type=int, nargs="*", metavar="N", help="numbers of links, from 1 on (default: all)")
    one("--sample", type=int, nargs=2, metavar=("N", "SEED"), help="N links at random")
    one("--divide", type=int, metavar="N", help="instead, certify link N anew in a hundred shorter ones, NAME-N.json")
    option("--workers", type=int, metavar="N", help="links at a time (default: one, in this process)")
    option("--threads", type=int, metavar="N", help="of a link (default: all processors; one with --workers)")
    option("--load", metavar="FILE:FUNCTION", help="function(path, threads) that loads a checkpoint, and adds to the "
           "simulation what it does not hold")
    options = parser.parse_args(list(words))
    if options.divide is not None:
        say(f"The links are in {divide_link(options.file, options.divide, options.load, options.threads)}.")
        return 0
    verdict = verify_certificate(options.file, links=options.links, sample=options.sample, workers=options.workers,
                                 threads=options.threads, load=options.load, progress=True)
    say(repr(verdict))
    return 1 if verdict.problems else 0
