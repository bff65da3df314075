"""Tables of the documents, whose numbers tests measure."""
import re
from pathlib import Path

import minidem as md


def page(name):
    """Text of a page of the package."""
    return (Path(md.__file__).parent / name).read_text(encoding="utf-8")


def in_one_line(name):
    return " ".join(page(name).split())


def rows_of(name, pattern, count):
    """What a pattern finds in each row of a table of a page, which has so many rows."""
    found = re.findall(rf"^\| {pattern} \|$", page(name), re.MULTILINE)
    assert len(found) == count, f"{name} has {len(found)} rows of this table, not {count}"
    return found
