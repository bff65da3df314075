"""A CSV file that grows row by row; its lines are whole at every instant, for a reader and after a crash."""

import mmap
from pathlib import Path

import numpy as np

from minidem.output import replace_text, replacing


class Table:
    """The table `path`, the time [s] in the first column. Numbers are written so that they read back exactly.

    keep: with a function of the time, the rows already in the file for which keep(time) is true stay (to
    continue a run); without it the table starts empty. Nothing is written before `open`. Raises ValueError
    when the file has other columns or rows that are no numbers.
    """

    def __init__(self, path, columns, keep=None):
        self.path = Path(path)
        self.columns = ("time",) + tuple(columns)
        self.rows, self._lines = [], [",".join(self.columns) + "\n"]
        self._file = None
        if keep is not None:
            self._read(keep)

    def _read(self, keep):
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            raise ValueError(f"{self.path} is missing, which the run would go on with") from None
        header, *lines = text.splitlines(keepends=True) or [""]
        if header != self._lines[0]:
            raise ValueError(f"{self.path}: its columns are not {self._lines[0].strip()}")
        for line in lines:
            if line.endswith("\n"):     # the last line may have been cut by a crash of the machine
                try:
                    row = tuple(map(float, line.split(",")))
                except ValueError:
                    row = ()
                if len(row) != len(self.columns):
                    raise ValueError(f"{self.path}: {line.strip()!r} is not {len(self.columns)} numbers")
                if keep(row[0]):
                    self.rows.append(row)
                    self._lines.append(line)

    def open(self):
        """Write what there is and wait for more."""
        replace_text(self.path, "".join(self._lines))
        self._reopen()

    def append(self, time, values):
        row = (float(time), *map(float, values))
        self._write((",".join(map(repr, row)) + "\n").encode())
        self.rows.append(row)

    def _write(self, line):
        """Let others see the line whole or not at all.

        The kernel copies page by page, and a reader or a kill may come between two pages: a line across the
        end of a page goes out with all of the file.
        """
        end = self._file.tell()
        if end // mmap.PAGESIZE == (end + len(line) - 1) // mmap.PAGESIZE:
            self._append(line, end)
        else:
            with replacing(self.path) as temporary:
                temporary.write_bytes(self.path.read_bytes() + line)
            self.close()
            self._reopen()

    def _append(self, line, end):
        written = None
        try:
            written = self._file.write(line)
        finally:
            if written != len(line):    # no room for all of it
                self._file.truncate(end)
        if written != len(line):
            raise OSError(f"no room for another row of {self.path}")

    def _reopen(self):
        self._file = open(self.path, "ab", buffering=0)

    def __getitem__(self, column):
        """A column as an array."""
        return np.array([row[self.columns.index(column)] for row in self.rows])

    def close(self):
        if self._file is not None:
            self._file.close()
