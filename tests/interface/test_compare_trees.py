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


def test_a_force_of_zeros_keeps_the_bits(capsys):
    pytest.importorskip("numba")
    assert compare_trees.main([str(compare_trees.ROOT), "--cases", "A", "--turns", "2", "--zero-force"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("equal")


def test_a_folder_without_a_build_is_refused(tmp_path, capsys):
    assert compare_trees.main([str(tmp_path), "--cases", "A"]) == 1
    assert "build it in place" in capsys.readouterr().err


@pytest.mark.parametrize("arguments, complaint", [
    (["--cases", "A,Q"], "case is 'Q'"), (["--threads", "0"], "at least 1")])
def test_wrong_arguments(arguments, complaint, capsys):
    with pytest.raises(SystemExit, match="2"):
        compare_trees.main([".", *arguments])
    assert complaint in capsys.readouterr().err
