"""The folder of a study: runs/*.json, one file per finished run, and table.csv with a row for each.

Files are written atomically, so that those that exist are complete. Each record holds its function, parameters and
format; damaged ones, and those of another study, are ignored.
"""
import hashlib
import json
from pathlib import Path

import numpy as np

from minidem.core.atomic import remove_leftovers, replace_text
from minidem.core.checks import short_repr
from minidem.output.table import write_table

FORMAT = 2
OWN_COLUMNS = ("run_seconds", "error")


class Store:
    """The records of one function in `folder`; ValueError if it holds those of another function or format."""

    def __init__(self, folder, function):
        self.folder, self.function = Path(folder), function
        self.runs, self.table = self.folder / "runs", self.folder / "table.csv"
        self.runs.mkdir(parents=True, exist_ok=True)
        for path in (self.folder, self.runs):
            remove_leftovers(path)
        about = self.folder / "study.json"
        before = _read(about)
        if not isinstance(before.get("function"), str):     # new, or damaged: each record holds its function
            before = {"format": FORMAT, "function": function}
            replace_text(about, json.dumps(before) + "\n")
        if before["function"] != function:
            raise ValueError(f"folder: {folder} holds runs of {before['function']}, not of {function}; give another "
                             "folder, or remove it")
        if before.get("format", 1) != FORMAT:
            raise ValueError(f"folder: {folder} holds runs in format {short_repr(before.get('format', 1))}, where this "
                             f"minidem has {FORMAT}; go on with the minidem that made them, or give another folder")

    def load(self, parameters):
        """The record of a run, or None if there is no valid one."""
        record = _read(self._file(parameters))
        return record if self._is_valid(record, parameters) else None

    def others(self, runs):
        """Rows of the other runs that did not fail; ValueError if these have other parameters."""
        own, rows = {self._file(parameters) for parameters in runs}, []
        for file in sorted(set(self.runs.glob("*.json")) - own):
            record = _read(file)
            parameters = record.get("parameters")
            if not isinstance(parameters, dict) or file != self._file(parameters) \
                    or not self._is_valid(record, parameters) or record["error"]:
                continue
            if set(parameters) != set(runs[0]):
                raise ValueError(f"folder: {self.folder} holds runs with the parameters {', '.join(parameters)}, not "
                                 f"{', '.join(runs[0])}; give another folder, or remove it")
            rows.append(row(parameters, record))
        return rows

    def _is_valid(self, record, parameters):
        """Whether the record belongs to this run, and its row can be written to a table."""
        try:
            checked(record["result"], parameters)
            seconds, error = record["seconds"], record["error"]
        except (KeyError, ValueError):
            return False
        return (record.get("format") == FORMAT and record.get("function") == self.function
                and key(record.get("parameters")) == key(parameters)
                and (seconds is None or type(seconds) in (int, float))
                and (error is None or isinstance(error, str) and error == readable(error)))

    def save(self, parameters, record):
        content = {"format": FORMAT, "function": self.function, "parameters": parameters, **record}
        replace_text(self._file(parameters), json.dumps(content, indent=1) + "\n")

    def write_table(self, rows):
        """Write table.csv; missing results are empty."""
        names = [*dict.fromkeys(name for row in rows for name in row if name not in OWN_COLUMNS), *OWN_COLUMNS]
        write_table(self.table, names, [[row.get(name) for name in names] for row in rows])

    def _file(self, parameters):
        return self.runs / f"{key(parameters)}.json"


def _read(file):
    """The dictionary in a JSON file; an empty one if there is none, as in a file damaged from outside."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


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
    value = value.item() if isinstance(value, np.generic) else value
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
    return hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:20]
