"""CSV files: whole ones, and tables that grow row by row and go on after a crash."""
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from minidem.core.atomic import replace_text


def write_table(path: Path | str, header: Sequence[str], rows: Iterable[Sequence]) -> bool:
    """Write a CSV file atomically; numbers have all digits, None is empty. ValueError for a row of another length."""
    lines = _Lines()
    writer = csv.writer(lines)
    writer.writerow(header)
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} numbers for {len(header)} columns: {row}")
        writer.writerow([value.item() if isinstance(value, np.generic) else value for value in row])
    replace_text(path, "".join(lines))
    return True


class _Lines(list):
    """Lines from a csv writer, which must end them with "\\r\\n" to quote either character, ended with "\\n"."""

    def write(self, line):
        self.append(line.removesuffix("\r\n") + "\n")
