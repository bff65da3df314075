"""tools/compare_trees.py: speed and bits of two source trees."""
import re

import compare_trees
import pytest


def test_a_tree_beside_itself(capsys):
    assert compare_trees.main([str(compare_trees.ROOT), "--cases", "A", "--turns", "2"]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    assert heads.split() == ["case", "threads", "us/step", "other/this", "bits"]
    ratio, = re.fullmatch(r"A +1 +\S+ +(\S+) \(\S+\.\.\S+\) +equal", row).groups()
    assert 0.1 < float(ratio) < 10


def test_a_folder_without_a_build_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="build it in place"):
        compare_trees.Worker(tmp_path, tmp_path / "none", 1, 1)
