"""Imports run downward: a module may use those of the lines above its own, and of its own line only its folder."""
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "minidem"
LAYERS = [
    "geometry readings guard", "build_record rows records",
    "reach prefetch arrays openmp clock checks energy pacing ordering whole_files",
    "threads", "mass material", "mesh_files mesh_repair", "clump_files meshes revolution", "sphere_spread",
    "sphere_fit", "mesh_report", "clump walls", "shapes", "chess", "bodies", "layout", "state", "pose",
    "broadphase contact translation rotation", "half_steps time_loop loop_lists", "loop_owner", "driver",
    "observables free_bodies diagnosis",
    "user_forces",
    "output", "simulation", "citation", "scenario", "benchmarks ensemble",
]
RANK = {name: k for k, line in enumerate(LAYERS) for name in line.split()}
# rotation.integrate is the same loop as a many-body run; the package hands it out, on demand
ALLOWED = {("rotation", "free_bodies"), ("contact", "broadphase")}


def room(path):
    return path.relative_to(PACKAGE).parts[0].partition(".")[0]


def test_imports_run_downward():
    wrong = []
    sources = [p for suffix in ("py", "pyx", "pxd") for p in PACKAGE.rglob(f"*.{suffix}")]
    for path in [p for p in sources if p.parent != PACKAGE or p.stem != "__init__"]:
        own = room(path)
        assert own in RANK, f"{path}: say in LAYERS where {own} stands"
        for line in path.read_text().splitlines():
            match = re.match(r"\s*(?:from|import|cimport)\s+(?:minidem\.(\w+)|minidem c?import (\w+)|\.(\w+))", line)
            used = match and next(filter(None, match.groups()))
            if used in RANK and used != own and RANK[used] >= RANK[own] and (own, used) not in ALLOWED:
                wrong.append(f"{path.relative_to(PACKAGE)}: {line.strip()}")
    assert not wrong, "\n".join(wrong)
