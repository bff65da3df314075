"""The README's commands and its script do what it says. .ci/run runs the test command itself in a clean clone."""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.M | re.S)


def test_two_set_up_commands_of_one_line_each():
    lines = [line for kind, text in BLOCKS if kind == "bash" for line in text.splitlines()]
    commands = [line for line in lines if "pip install" in line]
    assert len(commands) == 2
    assert all(line.startswith("python3 -m venv .venv && .venv/bin/pip install -e") for line in commands)
    assert commands[0].endswith("scenarios/rods_in_box.py") and commands[1].endswith("-m pytest")


def test_files_named_exist():
    for name in set(re.findall(r"[\w/]+/[\w./]+\.(?:py|png)\b", README)):
        assert name.startswith("results/") or (ROOT / name).exists(), name


def test_script(tmp_path):
    """Its last line prints the energy error, which is small: the rods meet several times in 3.8 s."""
    script, = (text for kind, text in BLOCKS if kind == "python" and text.startswith("import"))
    assert len([line for line in script.splitlines() if line.strip()]) <= 12
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr
    error = float(re.fullmatch(r"3\.8 s, relative energy error (\S+)\n", done.stdout).group(1))
    assert 0.0 < abs(error) < 1e-3


def test_own_integrator():
    """The scheme that the README writes down is direct Euler."""
    script, = (text for kind, text in BLOCKS if kind == "python" and text.startswith("def move"))
    program = f"""
import numpy as np, minidem as md
from minidem.geometry.quaternions import multiply as product
multiply = lambda q, w: product(q, np.column_stack([np.zeros(len(w)), w]))
normalised = lambda q: q / np.linalg.norm(q, axis=1)[:, None]
{script}
how = dict(inertia=(1, 2, 3), orientation=(1, 0, 0, 0), angular_velocity=(1, 2, 3), torque=(1, 0, 1), dt=1e-3, steps=99)
mine, euler = (md.rotation.integrate(name, **how) for name in ("mine", "euler"))
assert np.allclose(mine.orientation, euler.orientation, rtol=0, atol=99 * 1e-15)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr


def test_the_table_has_every_integrator():
    import minidem
    listed = {name.partition(":")[0] for name in re.findall(r"^\| `([\w:=-]+)` \|", README, re.M)}
    assert set(minidem.rotation.available()) <= listed
