"""Imports run downward: a module may use those of the lines above its own, and of its own line only its folder."""
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "minidem"
LAYERS = ["isa", "core", "material", "templates", "walls", "state", "broadphase", "contact", "rotation", "engine",
          "analysis", "changes", "output", "simulation", "citation", "initial", "scenario",
          "ensemble render selftest", "scenarios", "chess reproduction validation", "__main__"]
RANK = {name: k for k, line in enumerate(LAYERS) for name in line.split()}
# rotation.integrate is the same loop as a many-body run; the package hands it out, on demand
ALLOWED = {("rotation", "engine")}


def folder(path):
    return path.relative_to(PACKAGE).parts[0].partition(".")[0]


def test_imports_run_downward():
    wrong = []
    sources = [p for suffix in ("py", "pyx", "pxd") for p in PACKAGE.rglob(f"*.{suffix}")]
    for path in [p for p in sources if p.parent != PACKAGE or p.stem != "__init__"]:
        own = folder(path)
        assert own in RANK, f"{path}: say in LAYERS where {own} stands"
        for line in path.read_text().splitlines():
            match = re.match(r"\s*(?:from|import|cimport)\s+(?:minidem\.(\w+)|minidem c?import (\w+)|\.(\w+))", line)
            used = match and next(filter(None, match.groups()))
            if used in RANK and used != own and RANK[used] >= RANK[own] and (own, used) not in ALLOWED:
                wrong.append(f"{path.relative_to(PACKAGE)}: {line.strip()}")
    assert not wrong, "\n".join(wrong)
