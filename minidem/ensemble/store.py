"""The folder of a study: runs/*.json, one small file per finished run, and table.csv made of them.

A file appears whole or not at all, so whatever ends a study, what is there is complete. Numbers that are
not finite are written as NaN and Infinity, which Python's json reads.
"""

import csv
import io
import json
from pathlib import Path

from minidem.ensemble.grid import key
from minidem.output import replace_text

OWN_COLUMNS = ("run_seconds", "error")


class Store:
    """The runs of one function, kept in `folder`. ValueError if it holds those of another function."""

    def __init__(self, folder, function):
        self.folder = Path(folder)
        self.runs, self.table = self.folder / "runs", self.folder / "table.csv"
        about = self.folder / "study.json"
        self.runs.mkdir(parents=True, exist_ok=True)
        if about.exists():
            before = json.loads(about.read_text(encoding="utf-8"))["function"]
            if before != function:
                raise ValueError(f"folder: {folder} holds runs of {before}, not of {function}; give another "
                                 "folder, or remove it")
        else:
            replace_text(about, json.dumps({"function": function}) + "\n")

    def load(self, parameters):
        """The record of a run, or None if it has not been made."""
        try:
            return json.loads(self._file(parameters).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):         # ValueError: a file damaged from outside
            return None

    def save(self, parameters, record):
        text = json.dumps({"parameters": parameters, **record}, indent=1)
        replace_text(self._file(parameters), text + "\n")

    def write_table(self, rows):
        """table.csv: a line per row; what a run did not give stays empty. Numbers read back exactly."""
        names = dict.fromkeys(name for row in rows for name in row if name not in OWN_COLUMNS)
        text = io.StringIO()
        writer = csv.DictWriter(text, [*names, *OWN_COLUMNS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        replace_text(self.table, text.getvalue())

    def _file(self, parameters):
        return self.runs / f"{key(parameters)}.json"


def row(parameters, record):
    """A line of the table as a dictionary: parameters, results, run_seconds, error (None: it succeeded)."""
    return {**parameters, **record["result"], "run_seconds": record["seconds"], "error": record["error"]}
