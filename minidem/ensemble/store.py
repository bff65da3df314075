"""The folder of a study: runs/*.json, one small file per finished run, and table.csv made of them.

A file appears whole or not at all, so whatever ends a study, what is there is complete. Numbers that are
not finite are written as NaN and Infinity, which Python's json reads. Each record names its function, its
parameters and its format; one that is damaged, or of another study, is as good as none.
"""

import csv
import json
from pathlib import Path

from minidem.core.checks import short_repr
from minidem.ensemble.grid import key, plain, readable
from minidem.output import remove_leftovers, replace_text

FORMAT = 2              # 1: without the number, and records without their function
OWN_COLUMNS = ("run_seconds", "error")
_UNREADABLE = (FileNotFoundError, ValueError, RecursionError)       # no file, or no JSON


class Store:
    """The runs of one function, kept in `folder`. ValueError if it holds those of another function or format."""

    def __init__(self, folder, function):
        self.folder, self.function = Path(folder), function
        self.runs, self.table = self.folder / "runs", self.folder / "table.csv"
        about = self.folder / "study.json"
        self.runs.mkdir(parents=True, exist_ok=True)
        for place in (self.folder, self.runs):
            remove_leftovers(place)
        try:
            before = json.loads(about.read_text(encoding="utf-8"))
            named, of_format = before["function"], before.get("format", 1)
            if not isinstance(named, str):
                raise TypeError
        except (*_UNREADABLE, AttributeError, KeyError, TypeError):
            named, of_format = function, FORMAT         # the records themselves say whose they are
            replace_text(about, json.dumps({"format": FORMAT, "function": function}) + "\n")
        if named != function:
            raise ValueError(f"folder: {folder} holds runs of {named}, not of {function}; give another "
                             "folder, or remove it")
        if of_format not in (1, FORMAT):
            raise ValueError(f"folder: {folder} holds runs in format {short_repr(of_format)}, where this minidem has "
                             f"{FORMAT}; go on with the minidem that made them, or give another folder")
        self._formats = {of_format, FORMAT}

    def load(self, parameters):
        """The record of a run, or None if it has not been made."""
        try:
            record = json.loads(self._file(parameters).read_text(encoding="utf-8"))
            return record if self._is_sound(record, parameters) else None
        except (*_UNREADABLE, AttributeError, KeyError, TypeError):     # damaged from outside
            return None

    def _is_sound(self, record, parameters):
        """Whether a record is of this run, and what `row` makes of it can be written."""
        seconds, error, of_format = record["seconds"], record["error"], record.get("format", 1)
        checked(record["result"], parameters)
        return (of_format in self._formats
                and record.get("function", self.function if of_format == 1 else None) == self.function
                and key(record["parameters"]) == key(parameters)
                and (seconds is None or type(seconds) in (int, float))
                and (error is None or isinstance(error, str) and error == readable(error)))

    def save(self, parameters, record):
        content = {"format": FORMAT, "function": self.function, "parameters": parameters, **record}
        replace_text(self._file(parameters), json.dumps(content, indent=1) + "\n")

    def write_table(self, rows):
        """table.csv: a line per row; what a run did not give stays empty. Numbers read back exactly."""
        names = dict.fromkeys(name for row in rows for name in row if name not in OWN_COLUMNS)
        lines = _Lines()
        writer = csv.DictWriter(lines, [*names, *OWN_COLUMNS], lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
        replace_text(self.table, "".join(lines))

    def _file(self, parameters):
        return self.runs / f"{key(parameters)}.json"


class _Lines(list):
    """A file for csv, whose writer ends lines in "\\r\\n" so that it quotes either; here they end in "\\n"."""

    def write(self, line):
        self.append(line.removesuffix("\r\n") + "\n")


def checked(result, parameters):
    """What a run returned, as a record and a table can hold it; ValueError if they cannot."""
    if not isinstance(result, dict):
        raise ValueError(f"the function returned {short_repr(result)}; return a dictionary, name -> number or text")
    for name in result:
        if not isinstance(name, str) or name != readable(name) or name in parameters or name in OWN_COLUMNS:
            raise ValueError(f"the function returned a result {name!r}; take another name, the table has "
                             f"columns {', '.join([*parameters, *OWN_COLUMNS])}")
    found = {name: plain(f"result {name!r}", value) for name, value in result.items()}
    json.dumps(found)                                   # a whole number may have too many digits
    return found


def row(parameters, record):
    """A line of the table as a dictionary: parameters, results, run_seconds, error (None: it succeeded)."""
    return {**parameters, **record["result"], "run_seconds": record["seconds"], "error": record["error"]}
