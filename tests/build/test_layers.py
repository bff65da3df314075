"""Imports run downward: a module may use those of the lines above its own, and of its own line only its folder.

No modules import each other in a circle, with import or cimport.
"""
import re
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "minidem"
LAYERS = ["isa", "core", "material", "meshes", "templates", "walls", "state", "broadphase", "contact", "rotation",
          "engine", "analysis", "changes", "output", "simulation", "citation", "initial", "scenario",
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


def module_of(path):
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def test_no_module_imports_itself_through_others():
    """Of a compiled module both files count. Imports within functions are left out: they come after all modules."""
    sources = [path for suffix in ("py", "pyx", "pxd") for path in PACKAGE.glob(f"*/**/*.{suffix}")]
    sources += [path for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    graph = {module_of(path): set() for path in sources}
    for path in sources:
        text = re.sub(r"\(([^()]*)\)", lambda found: found[1].replace("\n", " "), path.read_text())
        for base, names in re.findall(r"^from (minidem[.\w]*) c?import (.*)", text, re.M):
            names = [name.split()[0] for name in names.partition("#")[0].split(",") if name.strip()]
            graph[module_of(path)] |= {module for name in names
                                       if (module := f"{base}.{name}" if f"{base}.{name}" in graph else base) in graph}
        graph[module_of(path)] |= set(re.findall(r"^c?import (minidem[.\w]*)", text, re.M)) & graph.keys()
    for module, used in graph.items():
        used.discard(module)                            # a .pyx and its .pxd
    graph["minidem.contact.law"].discard("minidem.contact.onset")       # its correction reads the struct of the law
    TopologicalSorter(graph).prepare()                  # CycleError names them
