"""CSV files: whole ones, and tables that grow row by row and go on after a crash."""
import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from minidem.core.atomic import replace_text


def write_table(path: Path | str, header: Sequence[str], rows: Iterable[Sequence]) -> bool:
    """Write a CSV file atomically; numbers have all digits, None is empty. ValueError for a row of another length."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} numbers for {len(header)} columns: {row}")
        writer.writerow([value.item() if isinstance(value, np.generic) else value for value in row])
    replace_text(path, text.getvalue())
    return True
