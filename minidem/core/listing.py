"""Rows of a table, which are shown as aligned text, and in notebooks as HTML."""
from html import escape
from typing import Any


class Listing(list[dict[str, Any]]):
    """A list of rows, each a dictionary with the same names of columns."""

    def cells(self) -> list[list[str]]:
        """The headings, then the rows, as text: yes and no, nothing for None, three digits of numbers."""
        return [list(self[0])] + [[cell(value) for value in row.values()] for row in self] if self else []

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.cells())]
        return "\n".join(" ".join(f"{text:{width}}" for text, width in zip(line, widths)).rstrip()
                         for line in self.cells())

    def _repr_html_(self) -> str:
        head, *rows = ("".join(f"<{tag}>{escape(text)}</{tag}>" for text in line)
                       for tag, line in zip(["th"] + ["td"] * len(self), self.cells()))
        return "<table>" + "".join(f"<tr>{line}</tr>" for line in (head, *rows)) + "</table>"


def cell(value):
    """A value as text."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    return f"{value:.3g}" if isinstance(value, float) else str(value)
