"""The build for arm64 under emulation, tools/emulate_arm64.py."""
import emulate_arm64
import pytest


def test_missing_programs_are_named_with_a_remedy(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert emulate_arm64.main(["--folder", str(tmp_path / "made")]) == emulate_arm64.MISSING
    assert "apt-get install gcc-aarch64-linux-gnu qemu-user" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_bits_are_those_of_this_machine(tmp_path, capsys):
    """Downloads an arm64 Python, NumPy and SciPy."""
    status = emulate_arm64.main(["--cases", "A,C", "--folder", str(tmp_path)])
    if status == emulate_arm64.MISSING:
        pytest.skip(capsys.readouterr().err)
    said = capsys.readouterr().out
    assert status == emulate_arm64.EQUAL and "aarch64: gcc" in said, said
    assert said.count("equal") > 20 and "different" not in said
