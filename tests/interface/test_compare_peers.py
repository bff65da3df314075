"""tools/compare_peers.py: what it says and returns without its peers, and beside Yade where there is one."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / 'tools' / 'compare_peers.py'


def compare_peers(*arguments, path):
    return subprocess.run([sys.executable, TOOL, *arguments], env={**os.environ, 'PATH': str(path)},
                          capture_output=True, text=True)


def test_a_missing_peer_is_skipped_and_its_package_named(tmp_path):
    done = compare_peers('--json', tmp_path / 'out.json', path=tmp_path)
    assert done.returncode == 77
    assert done.stderr == ''
    assert 'yade: skipped' in done.stdout and 'apt-get install yade' in done.stdout
    assert not (tmp_path / 'out.json').exists()


@pytest.mark.parametrize('arguments, complaint', [
    (['--peers', 'yade,nobody'], 'nobody'), (['--steps', '0'], '0'), (['--case', 'Z'], 'Z'),
    (['--json', 'no/such/folder/out.json'], 'no/such/folder')])
def test_a_bad_argument_is_named(arguments, complaint, tmp_path):
    done = compare_peers(*arguments, path=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_peer_that_fails_is_quoted(tmp_path):
    program = tmp_path / 'yade'
    program.write_text('#!/bin/sh\necho no walls today\nexit 3\n')
    program.chmod(0o755)
    done = compare_peers('--steps', '1', path=f'{tmp_path}{os.pathsep}{os.environ["PATH"]}')
    assert done.returncode == 1
    assert 'status 3' in done.stderr and 'no walls today' in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which('yade') is None, reason='needs Yade')
def test_yade_runs_the_same_clumps(tmp_path):
    done = compare_peers('--steps', '2000', '--repeats', '1', '--json', tmp_path / 'out.json',
                         path=os.environ['PATH'])
    assert done.returncode == 0, done.stderr
    [report] = json.loads((tmp_path / 'out.json').read_text())['reports']
    [theirs], [ours] = report['peer_runs'], report['minidem_runs']
    assert report['ratio'] == theirs['us_per_step'] / ours['us_per_step']
    # A contact lasts T = 34 steps of 38e-6 s, and T goes with the stiffness to the power -2/5. A stiffness
    # wrong by the fraction e turns a rod of v = 4 m/s back 2/5 e T too early or late and so displaces it by
    # about 2/5 e T v = 0.06 e radii. Measured with R* = R/2 at the walls (e = 0.29): 0.02 radii.
    wrong_by_one_percent = 0.06 * 0.01
    assert report['apart_in_radii'] < wrong_by_one_percent
