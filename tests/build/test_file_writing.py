"""Files are written by `minidem.core.atomic` only: atomically, with links and permissions preserved."""
import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITERS = {"write_text", "write_bytes", "savez", "savez_compressed", "savefig", "savetxt"}
OTHERS = {       # file -> why it writes in another way
    "minidem/output/lammps/script.py": "into temporary files",
    "minidem/output/table.py": "lines that are appended",
    "minidem/core/progress.py": "nowhere",
    "tools/benchmark.py": "lines that are appended",
    "tools/docs.py": "pages, made again as a whole",
    "tools/emulate_arm64.py": "a folder of its own",
    "tools/plant_faults.py": "a temporary folder",
    "tools/sanitize.py": "a temporary folder",
    "tools/peers/lammps_peer.py": "a temporary folder",
    "tools/peers/liggghts_peer.py": "a temporary folder",
    "tools/peers/yade_peer.py": "a temporary folder",
    "tools/peers/yade_clumps.py": "a temporary folder",
}
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
    """By replacing or replace_text; the exceptions exist, and write."""
    found = {name: list(writes(ast.parse(path.read_text(encoding="utf-8")))) for name, path in SOURCES.items()}
    assert {name: lines for name, lines in found.items() if lines and name not in OTHERS} == {}
    assert {name for name in OTHERS if not found.get(name)} == set()
