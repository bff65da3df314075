"""Sources: imports run downward and in no circle, `minidem.core.atomic` alone writes files; types that users see."""
import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "minidem"
# A module imports those of the lines above its own, and of its own line only its folder.
LAYERS = ["isa", "core", "material", "meshes", "templates", "walls", "state", "broadphase", "contact", "rotation",
          "loop", "fields holds", "forces onset steering shared_mass", "engine", "analysis", "output", "simulation",
          "citation", "initial", "ensemble", "accuracy", "scenario", "render selftest", "scenarios", "__main__"]
RANK = {name: k for k, line in enumerate(LAYERS) for name in line.split()}
# rotation.integrate is the same loop as a many-body run; the package hands it out, on demand
ALLOWED = {("rotation", "simulation")}


def test_imports_run_downward():
    wrong = []
    sources = [p for suffix in ("py", "pyx", "pxd") for p in PACKAGE.rglob(f"*.{suffix}")]
    for path in [p for p in sources if p.parent != PACKAGE or p.stem != "__init__"]:
        own = path.relative_to(PACKAGE).parts[0].partition(".")[0]
        assert own in RANK, f"{path}: say in LAYERS where {own} stands"
        for line in path.read_text().splitlines():
            match = re.match(r"\s*(?:from|import|cimport)\s+(?:minidem\.(\w+)|minidem c?import (\w+)|\.(\w+))", line)
            used = match and next(filter(None, match.groups()))
            if used in RANK and used != own and RANK[used] >= RANK[own] and (own, used) not in ALLOWED:
                wrong.append(f"{path.relative_to(PACKAGE)}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_no_file_imports_itself_through_others():
    """A cimport reads the .pxd file of a module alone, an import runs the module. Imports in functions come later."""
    sources = [path for suffix in ("py", "pyx", "pxd") for path in PACKAGE.glob(f"*/**/*.{suffix}")]
    sources += [path for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
             + "|pxd" * (path.suffix == ".pxd") for path in sources}
    graph = {name: set() for name in names.values()}
    for path, own in names.items():
        text = re.sub(r"\(([^()]*)\)", lambda found: found[1].replace("\n", " "), path.read_text())
        used = [(f"{base}.{name.split()[0]}", base, how == "cimport") for base, how, listed in re.findall(
            r"^from (minidem[.\w]*) (c?import) (.*)", text, re.M)
            for name in listed.partition("#")[0].split(",") if name.strip()]
        used += [(name, name, how == "cimport") for how, name in re.findall(r"^(c?import) (minidem[.\w]*)", text, re.M)]
        for module, base, declarations in used:
            for name in (module, base):
                if (node := name + "|pxd" * declarations) in graph:
                    graph[own].add(node)
                    break
        graph[own] |= {f"{own}|pxd"} & graph.keys()         # a .pyx reads its .pxd
        graph[own].discard(own)
    TopologicalSorter(graph).prepare()                      # CycleError names them


def test_rows_are_compared_without_structured_arrays():
    """np.unique(..., axis=0) turns Ctrl-C into a TypeError."""
    assert not [path for path in PACKAGE.rglob("*.py*") if path.suffix in (".py", ".pyx")
                and re.search(r"np\.unique\([^\n]*axis", path.read_text()) and path.name != "rows.py"]


def test_the_time_loop_is_read_through_the_reader():
    """Analysis, output and scripts do not know how the loop stores what they read."""
    reached = [f"{path.relative_to(PACKAGE)}: {line.strip()}" for path in sorted(PACKAGE.rglob("*.py"))
               if path.parent.name != "simulation" for line in path.read_text(encoding="utf-8").splitlines()
               if re.search(r"\b(sim|simulation|self)\.loop\b|\breader\._", line)]
    assert not reached, "\n".join(reached)


WRITERS = {"write_text", "write_bytes", "savez", "savez_compressed", "savefig", "savetxt"}
OTHERS = {       # file -> why it writes in another way
    "minidem/output/lammps/script.py": "into temporary files",
    "minidem/ensemble/worker.py": "a temporary folder",
    "minidem/output/table.py": "lines that are appended",
    "minidem/core/progress.py": "nowhere",
    "tools/benchmark.py": "lines that are appended",
    "tools/docs.py": "pages, made again as a whole",
    "tools/emulate_arm64.py": "a folder of its own",
    **{f"tools/{name}.py": "a temporary folder" for name in (
        "plant_faults", "sanitize", "peers/lammps_peer", "peers/liggghts_peer", "peers/yade_peer",
        "peers/yade_clumps")}}
SOURCES = {str(path.relative_to(ROOT)): path for folder in ("minidem", "scenarios", "tools")
           for path in sorted((ROOT / folder).rglob("*.py"))}


def writes(tree):
    """Line numbers of calls that write a file, outside of any `with replacing(...)`."""
    if isinstance(tree, ast.With) and any(isinstance(item.context_expr, ast.Call)
                                          and getattr(item.context_expr.func, "id", None) == "replacing"
                                          for item in tree.items):
        return
    if isinstance(tree, ast.Call):
        name = getattr(tree.func, "attr", getattr(tree.func, "id", None))
        modes = [node.value for node in [*tree.args, *(keyword.value for keyword in tree.keywords)]
                 if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        library = isinstance(tree.func, ast.Name)       # replace_text(path, text) is ours, path.write_text(text) is not
        if name in WRITERS and not library or name == "open" and any(set(mode) & set("wax") and len(mode) <= 3
                                                                     for mode in modes):
            yield tree.lineno
    for child in ast.iter_child_nodes(tree):
        yield from writes(child)


def test_files_are_written_in_one_way():
    found = {name: list(writes(ast.parse(path.read_text(encoding="utf-8")))) for name, path in SOURCES.items()}
    assert {name: lines for name, lines in found.items() if lines and name not in OTHERS} == {}
    assert {name for name in OTHERS if not found.get(name)} == set()


@pytest.mark.slow
def test_types_in_a_script(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text("""
import minidem as md

rod = md.ClumpTemplate(centers=[(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], radii=[0.03] * 3, density=2500.0)
sim = md.Simulation(md.Material(young=1e9, poisson=0.1), walls=md.box_walls((0, 0, 0), (1, 1, 1)), dt=1e-5,
                    contact=md.contact.HertzMindlin(rolling="eps"), rotation=md.rotation.Spiral(inner="rk4"))
sim.add_clumps(rod, position=[(0.3, 0.5, 0.5)], velocity=[(1, 0, 0)])
sim.run(100, every=10, callback=md.Trajectory("rods.csv"))
reveal_type(sim.position)
reveal_type(sim.dt)
reveal_type(sim.energy().total)
reveal_type(rod.mass)
sim.runs(100)
sim.run("100")
""")
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", ROOT / ".mypy_cache",
                           "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    found = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    array, *numbers = (line for line in found if line.startswith("note: Revealed"))
    assert "numpy.ndarray" in array and len(numbers) == 3 and all('"float"' in line or "builtins.float" in line
                                                                  for line in numbers), found
    errors = [line for line in found if line.startswith("error")]
    assert len(errors) == 3 and "Literal['none', 'epsd'" in errors[0], found
    assert '"runs"' in errors[1] and 'incompatible type "str"; expected "int"' in errors[2], found
