"""The folder of a study: runs/*.json, one file per finished run, and table.csv with a row for each.

Files are written atomically, so that those that exist are complete. Non-finite numbers are written as NaN and Infinity,
which Python's json reads. Each record holds its function, parameters and format; damaged ones, and those of another
study, are ignored.
"""

import csv
import hashlib
import json
from pathlib import Path

import numpy as np

from minidem.core.checks import short_repr
from minidem.output import remove_leftovers, replace_text

FORMAT = 2              # 1: without the number, and records without their function
OWN_COLUMNS = ("run_seconds", "error")
_UNREADABLE = (FileNotFoundError, ValueError, RecursionError)       # no file, or no JSON


class Store:
    """The records of one function in `folder`; ValueError if it holds those of another function or format."""

    def __init__(self, folder, function):
        self.folder, self.function = Path(folder), function
        self.runs, self.table = self.folder / "runs", self.folder / "table.csv"
        about = self.folder / "study.json"
        self.runs.mkdir(parents=True, exist_ok=True)
        for path in (self.folder, self.runs):
            remove_leftovers(path)
        try:
            before = json.loads(about.read_text(encoding="utf-8"))
            named, of_format = before["function"], before.get("format", 1)
            if not isinstance(named, str):
                raise TypeError
        except (*_UNREADABLE, AttributeError, KeyError, TypeError):
            named, of_format = function, FORMAT         # each record holds its function
            replace_text(about, json.dumps({"format": FORMAT, "function": function}) + "\n")
        if named != function:
            raise ValueError(f"folder: {folder} holds runs of {named}, not of {function}; give another "
                             "folder, or remove it")
        if of_format not in (1, FORMAT):
            raise ValueError(f"folder: {folder} holds runs in format {short_repr(of_format)}, where this minidem has "
                             f"{FORMAT}; go on with the minidem that made them, or give another folder")
        self._formats = {of_format, FORMAT}

    def load(self, parameters):
        """The record of a run, or None if there is no valid one."""
        try:
            record = json.loads(self._file(parameters).read_text(encoding="utf-8"))
            return record if self._is_valid(record, parameters) else None
        except (*_UNREADABLE, AttributeError, KeyError, TypeError):     # damaged from outside
            return None

    def others(self, runs):
        """Rows of the other runs that did not fail; ValueError if these have other parameters."""
        own = {self._file(parameters) for parameters in runs}
        rows = []
        for file in sorted(self.runs.glob("*.json")):
            try:
                record = {} if file in own else json.loads(file.read_text(encoding="utf-8"))
                parameters = record["parameters"]
                if file != self._file(parameters) or not self._is_valid(record, parameters) or record["error"]:
                    continue
            except (*_UNREADABLE, AttributeError, KeyError, TypeError):
                continue
            if set(parameters) != set(runs[0]):
                raise ValueError(f"folder: {self.folder} holds runs with the parameters {', '.join(parameters)}, not "
                                 f"{', '.join(runs[0])}; give another folder, or remove it")
            rows.append(row(parameters, record))
        return rows

    def _is_valid(self, record, parameters):
        """Whether the record belongs to this run, and its row can be written to a table."""
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
        """Write table.csv: missing results are empty, numbers are exact."""
        names = dict.fromkeys(name for row in rows for name in row if name not in OWN_COLUMNS)
        lines = _Lines()
        writer = csv.DictWriter(lines, [*names, *OWN_COLUMNS], lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
        replace_text(self.table, "".join(lines))

    def _file(self, parameters):
        return self.runs / f"{key(parameters)}.json"


class _Lines(list):
    """Lines from a csv writer, which must end them with "\\r\\n" to quote either character, ended with "\\n"."""

    def write(self, line):
        self.append(line.removesuffix("\r\n") + "\n")


def checked(result, parameters):
    """The result of a run in types of JSON; ValueError if a record or a table cannot hold it."""
    if not isinstance(result, dict):
        raise ValueError(f"the function returned {short_repr(result)}; return a dictionary, name -> number or text")
    for name in result:
        if not isinstance(name, str) or name != readable(name) or name in parameters or name in OWN_COLUMNS:
            raise ValueError(f"the function returned a result {name!r}; take another name, the table has "
                             f"columns {', '.join([*parameters, *OWN_COLUMNS])}")
    found = {name: plain(f"result {name!r}", value) for name, value in result.items()}
    json.dumps(found)                                   # an integer may have too many digits
    return found


def row(parameters, record):
    """A row of the table: parameters, results, run_seconds, error."""
    return {**parameters, **record["result"], "run_seconds": record["seconds"], "error": record["error"]}


def plain(name, value):
    """`value` as a Python number, text, True, False or None; ValueError for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and value != readable(value):
        raise ValueError(f"{name} = {value!r}: a text with a lone surrogate, which no file can hold; give Unicode")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{name} = {value!r}: give a number, text, True, False or None, which a table can hold")


def readable(text):
    """The text with lone surrogates, which UTF-8 cannot encode, as backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def key(parameters):
    """The file name of a run, which depends on its parameters alone."""
    text = json.dumps(parameters, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
