"""CSV files: whole ones, and tables that grow row by row and continue after a crash."""
import csv
import io
import mmap
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from minidem.core.atomic import append_whole, replace_text, replacing


def write_table(path: Path | str, header: Sequence[str], rows: Iterable[Sequence]) -> bool:
    """Write a CSV file atomically; numbers have all digits, None is empty, lone surrogates backslash escapes."""
    text = io.StringIO()
    writer = csv.writer(text)           # ends lines with "\r\n", so that it quotes either character
    writer.writerow(header)
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} numbers for {len(header)} columns: {row}")
        writer.writerow([value.item() if isinstance(value, np.generic) else value for value in row])
    content = text.getvalue().replace("\r\n", "\n")
    replace_text(path, content.encode("utf-8", "backslashreplace").decode())
    return True


class Table(AbstractContextManager):
    """A CSV file of numbers that grows. Nothing is written before `open`, and each append as a whole or not at all.

    columns : names after the first, `time` [s]
    keep : function of the time. To continue a file: its rows are kept up to the first for whose time it is false. A
        line that a crash of the machine has cut off is removed. Default: a new file
    remember : hold the rows in memory, in `rows`; a reader then never sees a part of a line. Otherwise there may be
        several rows of one time, which are removed together if one is cut off

    ValueError if the file to continue is missing, has other columns, or rows that are not numbers.
    """

    def __init__(self, path: Path | str, columns: Sequence[str], keep: Callable | None = None, remember: bool = True):
        self.path, self.columns = Path(path), ("time", *columns)
        self.rows: list = []
        self.last: float | None = None          # time of the last row
        self._remember = remember
        self._file: Any = None
        self._end = None if keep is None else self._read(keep)      # of the rows that are kept; None: written anew

    def _read(self, keep):
        try:
            file = open(self.path, "rb")
        except FileNotFoundError:
            raise ValueError(f"{self.path} is missing, with which the run would continue") from None
        with file:
            header = file.readline()
            if tuple(header.decode(errors="replace").rstrip("\n").split(",")) != self.columns:
                raise ValueError(f"{self.path}: its columns are not {','.join(self.columns)}")
            end = start = len(header)           # where the kept rows end, and where the last time begins
            before = None                       # the time before it
            for line in file:
                if not line.endswith(b"\n"):
                    if not self._remember and repr(self.last).encode().startswith(line.partition(b",")[0]):
                        end, self.last = start, before
                    break
                row = self._numbers(line, len(self.columns))
                if not keep(row[0]):
                    break
                if row[0] != self.last:
                    before, self.last, start = self.last, row[0], end
                end += len(line)
                if self._remember:
                    self.rows.append(row)
        return end

    def _numbers(self, line, count):
        """The numbers of a line; without `remember` the first, the time."""
        words = line.split(b",")
        try:
            if len(words) == count:
                return tuple(map(float, words if self._remember else words[:1]))
        except ValueError:
            pass
        raise ValueError(f"{self.path}: {line[:80].decode(errors='replace').strip()!r} is not {count} numbers")

    def open(self) -> None:
        """Write the header of a new file, or remove the rows that are not kept."""
        if self._end is None:
            replace_text(self.path, ",".join(self.columns) + "\n")
        else:
            with open(self.path, "r+b") as file:
                file.truncate(self._end)
        self._reopen()

    def append(self, time: float, values: Iterable[float]) -> None:
        """Write a row; numbers have all digits that are needed to read them back exactly."""
        self.extend([(float(time), *map(float, values))])

    def extend(self, rows: Sequence[tuple]) -> None:
        """Write rows of Python numbers, with the time in front."""
        data, end = "".join(",".join(map(repr, row)) + "\n" for row in rows).encode(), self._file.tell()
        # The kernel copies page by page, and a reader or a kill may come between two pages.
        if self._remember and end // mmap.PAGESIZE != (end + len(data) - 1) // mmap.PAGESIZE:
            with replacing(self.path) as temporary:
                temporary.write_bytes(self.path.read_bytes() + data)
            self._file.close()
            self._reopen()
        else:
            append_whole(self._file, data)
        if self._remember:
            self.rows += rows

    def _reopen(self):
        self._file = open(self.path, "ab", buffering=0)

    def __getitem__(self, column):
        """A column as an array."""
        if column not in self.columns:
            begun = "" if self.columns else " before the first call"
            raise KeyError(f"{column!r}: {self.path} has no such column{begun}")
        return np.array([row[self.columns.index(column)] for row in self.rows])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __exit__(self, *failure):
        self.close()
