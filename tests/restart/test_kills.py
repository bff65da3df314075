"""Killed processes (SIGKILL) and concurrent readers: no incomplete file is ever seen or left."""
import subprocess
import sys

import killed_runs
import pytest

from minidem.output.table import Table


@pytest.mark.parametrize("kills", [5, pytest.param(500, marks=pytest.mark.slow)])
def test_random_kills(kills):
    done = subprocess.run([sys.executable, killed_runs.__file__, str(kills)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith(f"{kills} kills of "), done.stderr


WRITER = """
import sys
from minidem.output.table import Table
table = Table(sys.argv[1], ["a", "b", "c"])
table.open()
for k in range(6_000):
    table.append(0.1 * k, (1.0 / (k + 1), k, -k / 3.0))
"""


def test_lines_of_a_table_are_complete(tmp_path):
    """Lines across the pages of memory included, of which the kernel would show the first part alone."""
    path, looks, sizes = tmp_path / "table.csv", 0, set()
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) as process:
        while process.poll() is None:
            if path.exists():
                text = path.read_bytes()
                assert text.endswith(b"\n")
                sizes.add(len(text))
                looks += 1
    assert process.returncode == 0 and looks > 20 and len(sizes) > 10
    rows = Table(path, ["a", "b", "c"], keep=lambda time: True).rows
    assert rows == [(0.1 * k, 1.0 / (k + 1), k, -k / 3.0) for k in range(6_000)]


@pytest.mark.parametrize("there", [b"", b"x,y\n", b"time,a\n1\n", b"time,a\n1,2,3\n", b"time,a\n1,two\n",
                                   b"\xff\xfe\n"])
def test_invalid_table_is_refused(there, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(there)
    with pytest.raises(ValueError, match="table.csv"):
        Table(path, ["a"], keep=lambda time: True)
    assert path.read_bytes() == there
