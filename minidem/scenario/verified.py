"""--verify of a scenario: its numbers with error bars, from runs with several steps."""
import hashlib
import math
import numbers
import shlex
import tempfile
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import minidem
from minidem.accuracy.verify import Verification, changed, verification
from minidem.ensemble.own_code import import_own
from minidem.ensemble.worker import reference_to


def verify_scenario(scenario, words, options) -> Verification:
    """The numbers of a scenario with these words of the command line; runs and errors are in the folder `verify`."""
    where = reference_to(scenario.build).rpartition(":")[0]
    given = {"scenario": [f"{where}:{scenario.name}"], "words": [shlex.join(words)],
             "states": [options.verify == "seeds"], "version": [minidem.__version__],
             "source": [hashlib.sha256(Path(scenario.build.__code__.co_filename).read_bytes()).hexdigest()]}
    return verification(measured, given, folder=Path(options.out, "verify"), workers=options.threads,
                        imports=options.imports)


def measured(scenario, words, states, step, seed, version, source):
    """A run with `step` times the step of a scenario: final observables and energy, and what it concludes with.

    version, source : of minidem and, as a digest, of the script, so that runs of no others are kept
    """
    where, _, name = scenario.rpartition(":")
    found = (getattr(value, "__self__", value) for value in vars(import_own(where, "scenario")).values())     # main
    own = next(one for one in found if getattr(one, "name", None) == name and hasattr(one, "run_into"))
    options = vars(own.parse(shlex.split(words)))
    options |= {"dt": step * options["dt"], "seed": options.get("seed", 0) + states * seed, "verify": None,
                "frames": 0, "contacts": False, "checkpoint_every": None, "threads": 1}

    def build(options):
        """The scene of the step that is judged, with another one."""
        return changed(own.build(Namespace(**vars(options) | {"dt": options.dt / step})), step, 0 if states else seed)

    with tempfile.TemporaryDirectory() as folder:
        summary = replace(own, build=build).run_into(
            folder, **{name: value for name, value in options.items() if name not in ("out", "quiet")})
    found = {name: both["final"] for name, both in summary["observables"].items()} | (summary.get("result") or {})
    found |= {name: summary[name] for name in ("energy_final", "contacts_per_clump")}
    return {name: float(value) for name, value in found.items()
            if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)}
