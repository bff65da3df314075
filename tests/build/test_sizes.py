"""No source file has more than 500 lines, no function more than 60 lines of code."""
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {str(path.relative_to(ROOT)): path.read_text() for folder in ("minidem", "scenarios", "tests", "tools")
           for suffix in ("py", "pyx", "pxd", "h") for path in sorted((ROOT / folder).rglob(f"*.{suffix}"))}
DEFINITION = re.compile(r"( *)(?:def |cp?def (?!class)[^=]*\w\()")


def functions(text):
    """(first line, lines of code) of each function of a Python or Cython module, without docstrings and comments."""
    text = re.sub(r'^( *)r?"""(?:.|\n)*?"""\n', "", text, flags=re.M)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for k, line in enumerate(lines):
        if found := DEFINITION.match(line):
            inside = (found[1] + " ", found[1] + ")")
            end = next((j for j in range(k + 1, len(lines)) if not lines[j].startswith(inside)), len(lines))
            yield line.strip(), end - k


def test_sizes():
    long = {name: text.count("\n") for name, text in SOURCES.items() if text.count("\n") > 500}
    long |= {(name, line): size for name, text in SOURCES.items() for line, size in functions(text) if size > 60}
    assert not long


def test_counting():
    text = 'cdef class A(B):\n  int a\n\ncdef inline int f(int a,\n                  int b) noexcept:\n    """Doc.\n' \
           '    More.\n    """\n    # why\n    return a\n\nclass B:\n    def g(self):\n        pass\n\n    x = 1\n'
    assert list(functions(text)) == [("cdef inline int f(int a,", 3), ("def g(self):", 2)]
