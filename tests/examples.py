"""Examples in README, other .md files and docstrings: where they are, and how they are marked.

Python stands in .md files between ```python and ```, and in docstrings indented behind a paragraph that ends with
`::`, both whole: a reader can copy one into a file and run it. Commands stand between ```bash and ```, or in a line
of their own or in `backticks`, beginning with one of STARTS.
"""
import ast
import importlib
import inspect
import re
import shlex
import textwrap
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "minidem"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
STARTS = r"(?:\.venv/bin/|xvfb-run -a )?(?:python3?|pip|pvbatch|pvpython) |(?:tools|scenarios)/[\w/]+\.py\b"
# Indented, it can only be Python: doctests, imports, calls of the package
PYTHON = re.compile(r"\s*(>>>|import \w|from [\w.]+ import |(?:\w+ = )?(?:md|minidem)\.[\w.]+\()")


class Text(NamedTuple):
    where: str
    text: str


def documents():
    return [Text(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
            for path in [*sorted(ROOT.glob("*.md")), *sorted(PACKAGE.rglob("*.md"))]]


@cache
def docstrings():
    """Of modules, classes and functions: those of the package, compiled ones too, and of scripts."""
    found = []
    for path in [ROOT / "setup.py", *(p for folder in ("minidem", "scenarios", "tools")
                                      for p in sorted((ROOT / folder).rglob("*.py")))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                name = getattr(node, "name", "")
                found.append(Text(f"{path.relative_to(ROOT)} {name}".strip(), ast.get_docstring(node)))
    for path in sorted(PACKAGE.rglob("*.pyx")):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        found += [Text(f"{path.relative_to(ROOT)} {name}".strip(), inspect.cleandoc(thing.__doc__))
                  for name, thing in _things(module) if isinstance(thing.__doc__, str)]
    return found


def _things(module):
    """(name, object) of a compiled module, of its functions and classes, and of what they have."""
    yield "", module
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) == module.__name__ and callable(thing):
            yield name, thing
            if inspect.isclass(thing):
                yield from ((f"{name}.{part}", member) for part, member in vars(thing).items() if callable(member))


def blocks(text):
    """(whether behind `::`, block) of what is indented in a docstring by at least four more than what is before."""
    lines, found, k = text.splitlines(), [], 0
    before, indent = "", 0                          # the last line of the paragraph that a block belongs to
    while k < len(lines):
        line = lines[k]
        if line.strip() and _indent(line) >= indent + 4:
            end = k + 1
            while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) >= indent + 4):
                end += 1
            found.append((before.endswith("::"), textwrap.dedent("\n".join(lines[k:end])).strip()))
            k = end
            continue
        if line.strip():
            before, indent = line.rstrip(), _indent(line)
        k += 1
    return found


def _indent(line):
    return len(line) - len(line.lstrip())


def looks_like_python(block):
    """Is it, though it is not marked as such? Formulas and lists of words do not parse, or are no statements."""
    if any(PYTHON.match(line) for line in block.splitlines()):
        return True
    try:
        statements = ast.parse(block).body
    except SyntaxError:
        return False
    return any(isinstance(one, (ast.Assign, ast.AugAssign, ast.FunctionDef, ast.ClassDef, ast.With, ast.For))
               or isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in statements)


def python_blocks():
    found = [Text(f"{where} {k}", code) for where, text in documents()
             for k, (kind, code) in enumerate(FENCE.findall(text)) if kind == "python"]
    return found + [Text(f"{where} {k}", block) for where, text in docstrings()
                    for k, (marked, block) in enumerate(blocks(text)) if marked]


def commands():
    """All commands, as Texts of one line each; two that are joined by && are two."""
    found = []
    for where, text in documents():
        found += [(where, line) for kind, block in FENCE.findall(text) if kind == "bash"
                  for line in block.splitlines() if line.strip()]
        found += [(where, " ".join(code.split())) for code in re.findall(r"`([^`]+)`", FENCE.sub("", text))
                  if re.match(STARTS, code) and not re.fullmatch(r"[\w/.]+", code)]
    for where, text in docstrings():
        found += [(where, re.split(r" {2,}", line.strip())[0]) for marked, block in blocks(text) if not marked
                  for line in block.splitlines() if re.match(STARTS, line.strip())]
    return [Text(where, part.strip()) for where, line in found
            for part in " ".join(shlex.split(line, comments=True, posix=False)).split(" && ")]


# --- Tables of the documents, whose numbers tests measure.

def page(name):
    return (PACKAGE / name).read_text(encoding="utf-8")


def in_one_line(name):
    return " ".join(page(name).split())


def rows_of(name, pattern, count):
    """What a pattern finds in each row of a table of a page, which has so many rows."""
    found = re.findall(rf"^\| {pattern} \|$", page(name), re.MULTILINE)
    assert len(found) == count, f"{name} has {len(found)} rows of this table, not {count}"
    return found
