"""Parameter studies: every run is made once, also after failures and kills, and stands in one table."""
import csv
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import python

import minidem as md
from minidem import __main__ as command_line
from minidem.ensemble import command, run_ensemble, worker
from minidem.ensemble.own_code import import_own
from minidem.ensemble.worker import reference_to
from minidem.rotation import registry
from minidem.scenarios.energy import energy_pareto

# Functions of the studies. `study` leaves a mark per call in the working folder, and does what `a` says.
SCRIPT = r"""
import multiprocessing, os, signal, sys, time
from minidem.ensemble import run_ensemble

def study(a, b="x", delay=0.0):
    name = f"{a}{b}"
    with open(f"calls_{name}", "a") as file:
        file.write(f"{os.getpid()}\n")
    print("noise on standard output")
    time.sleep(delay)
    if a == "fail":
        raise RuntimeError("two\nlines")
    if a == "killed":
        os.write(2, b"last words")
        os.kill(os.getpid(), signal.SIGKILL)
    if a == "killed once" and open(f"calls_{name}").read().count("\n") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if a == "by signal":
        os.kill(os.getpid(), signal.SIGRTMIN + 3)
    if a == "child" and os.fork() == 0:         # has a session of its own, and lives on
        os.setsid()
        time.sleep(30)
        os._exit(0)
    if a == "child":
        os._exit(5)
    if a == "read":
        return {"answer": input("how many? ")}
    if a == "fork":                             # the forked process comes back from the function as well, later
        child = os.fork()
        time.sleep(0.2 if child == 0 else 0.0)
        return {"text": "child" if child == 0 else name}
    if a == "pool":
        with multiprocessing.get_context("fork").Pool(2) as workers:
            return {"text": name + str(sum(workers.map(abs, [-1, 2, 3])))}
    if a == "stopped":
        print(os.getpid(), file=open("stopped", "w"))
        os.kill(os.getpid(), signal.SIGSTOP)
    return {"text": name, "third": len(name) / 3.0, "threads": os.environ["OMP_NUM_THREADS"]}

def other(a):
    return {"text": "no"}

if __name__ == "__main__":
    rows = run_ensemble(study, {"a": list(range(4)), "b": ["x", "y"], "delay": [0.1]}, "out", workers=2)
    sys.exit(0 if len(rows) == 8 and all(row["error"] is None for row in rows) else 1)
"""
OUTCOMES = {        # value of a: words of the error, or the text of the result
    1: "1x", "fail": "RuntimeError: two lines", "fork": "forkx", "\U0001f600 \u00e9 \r": "\U0001f600 \u00e9 \rx",
    "killed once": "killed oncex",
    "killed": "the process of the run was killed by signal 9 (Killed), 2 times",
    "by signal": f"the process of the run was killed by signal {signal.SIGRTMIN + 3} (Real-time signal 3), 2 times",
    "child": "the process of the run ended with status 5, 2 times", "read": "EOFError: EOF when reading a line",
    "pool": "poolx6"}
RESULTS = {         # that no table can hold, and words of the error
    "1.0": "ValueError: the function returned 1.0; return a dictionary", '{"x": [1]}': "result 'x' = [1]",
    '{"a": 1}': "the function returned a result 'a'", '{"error": 1}': "a result 'error'",
    '{"digits": 10 ** 5000}': "digits"}


class Study:
    def __init__(self, folder):
        self.folder, self.runs, self.file = folder, folder / "out" / "runs", folder / "out" / "table.csv"
        (folder / "script.py").write_text(SCRIPT)

    def __call__(self, grid, name="study", folder="out", **options):
        return run_ensemble(f"script.py:{name}", grid, folder, **({"workers": 1, "progress": False} | options))

    def calls(self):
        return {file.name[6:]: file.read_text().count("\n") for file in self.folder.glob("calls_*")}

    def records(self):
        return [json.loads(file.read_text()) for file in self.runs.glob("[!.]*.json")]

    def leaves_no_orphans(self):
        begun = {word for file in self.folder.glob("calls_*") for word in file.read_text().split()}
        wait_until(lambda: not any(alive(one) for one in begun))

    def table(self):
        with open(self.file, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def study(here):
    return Study(here)


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=100.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_every_outcome_of_a_run(study, capfd):
    """Of one worker, whose runs have an empty standard input; forked processes do not count. Then the files."""
    rows = study({"a": list(OUTCOMES)}, progress=True, timeout=25.0)
    assert [row["a"] for row in rows] == list(OUTCOMES)
    for row, told in zip(rows, OUTCOMES.values(), strict=True):
        assert row.get("text") == told if row["error"] is None else told in row["error"]
        assert not isinstance(row["a"], int) or list(row) == ["a", "text", "third", "threads", "run_seconds", "error"]
    twice = {"killedx", "killed oncex", "by signalx", "childx"}
    assert study.calls() == {f"{a}x": 1 + (f"{a}x" in twice) for a in OUTCOMES}
    assert [(line["text"], line["error"]) for line in study.table()] == [
        (row.get("text", ""), row["error"] or "") for row in rows]
    records = {record["parameters"]["a"]: record for record in study.records()}
    assert len(records) == len(rows)
    assert "Traceback" in records["fail"]["traceback"] and records["killed"]["traceback"].endswith("last words")
    *lines, last = capfd.readouterr().err.splitlines()
    failed = sum(row["error"] is not None for row in rows)
    assert last == f"{len(rows)} runs, {failed} failed: out/table.csv has the reasons; the same call repeats them"
    assert [line for line in lines if "first" in line] == [
        "the first run that failed, {'a': 'fail'}: RuntimeError: two lines"]


def test_a_study_grows(study, monkeypatch, capfd):
    """Rows are in the order of the grid, runs in that of their cost; runs are repeated only if they failed."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    grid = {"a": [1, 2], "b": ["x", "fail"]}
    first = study(grid, threads=3, cost=lambda parameters: 2 * parameters["a"] + (parameters["b"] == "x"),
                  progress=True)
    assert [row["text"] for row in first] == ["1x", "1fail", "2x", "2fail"]
    assert [(line["text"], float(line["third"]), line["error"]) for line in study.table()] == [
        (row["text"], row["third"], "") for row in first]
    assert {row["threads"] for row in first} == {"3"}                       # whatever the environment says
    begun = sorted(study.folder.glob("calls_*"), key=lambda file: file.stat().st_mtime_ns)
    assert [file.name[6:] for file in begun] == ["2x", "2fail", "1x", "1fail"]
    assert capfd.readouterr().err.splitlines()[-1] == "4 runs, 0 failed" and study(grid) == first
    rows = study({"a": ["fail", 2], "b": ["x"]})
    assert rows[0]["error"] and rows[1] == first[2] and study.calls() == dict.fromkeys(
        ["1x", "1fail", "2x", "2fail", "failx"], 1)
    assert [line["a"] for line in study.table()][:2] == ["fail", "2"] and len(study.table()) == 5
    study({"a": ["fail"], "b": ["x"]})
    assert study.calls()["failx"] == 2
    before = study.file.read_bytes()
    for grid, name, message in (({"a": [1]}, "other", "not of script.py:other with a"),
                                ({"a": [1]}, "study", "^folder: out holds runs of script.py:study with a, b, not of")):
        with pytest.raises(ValueError, match=message):
            study(grid, name=name)
    assert study.file.read_bytes() == before
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install -e '\.\[cluster\]'"):
        study({"a": [3], "b": ["x"]}, workers=None, scheduler="tcp://127.0.0.1:1")


def changed(file, **new):
    content = json.loads(file.read_text()) | new
    file.write_text(json.dumps({name: value for name, value in content.items() if value != "gone"}))


DAMAGE = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "another kind": lambda file: file.write_text("[1, 2]"),
    "deep": lambda file: file.write_text(100_000 * "["),
    "no result": lambda file: changed(file, result="gone"),
    "another result": lambda file: changed(file, result={"text": "no"}),
    "of another run": lambda file: file.write_bytes(sorted(file.parent.iterdir())[0].read_bytes())}


@pytest.fixture
def in_this_process(monkeypatch):
    """Runs need no processes of their own."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(worker, "make", lambda reference, parameters, *how: worker.perform(reference, parameters))


@pytest.mark.parametrize("result", RESULTS)
def test_results_that_no_table_can_hold(result, study, in_this_process):
    (study.folder / "script.py").write_text(f"def study(a):\n    return {result}\n")
    [row] = study({"a": [1]})
    assert RESULTS[result] in row["error"] and study.table()[0]["error"] == row["error"]


def test_damaged_records_are_replaced(study, in_this_process):
    """One of each kind, behind a good one; and what a killed study has left is removed."""
    grid = {"a": list(range(len(DAMAGE) + 1))}
    first = study(grid)
    for damage, file in zip(DAMAGE.values(), sorted(study.runs.iterdir())[1:], strict=True):
        damage(file)
    program = ("import os, signal, sys\nfrom minidem.core.atomic import replacing\n"
               "with replacing(sys.argv[1]):\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    subprocess.run([sys.executable, "-c", program, study.file])
    assert len(list(study.file.parent.glob(".minidem-*"))) == 1
    for _ in range(2):
        assert [row["text"] for row in study(grid)] == [row["text"] for row in first]
    assert sorted(study.calls().values()) == [1, *(2 for _ in DAMAGE)] and not list(study.file.parent.rglob(".*"))


@pytest.mark.parametrize("sent", [pytest.param(signal.SIGKILL, marks=pytest.mark.slow), signal.SIGINT])
def test_a_killed_study_continues(study, sent):
    command = [sys.executable, "script.py"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_until(lambda: study.runs.exists() and len(list(study.runs.glob("[!.]*.json"))) >= 2)
    process.send_signal(sent)
    assert process.wait() != 0
    before = {file: file.stat().st_mtime_ns for file in study.runs.glob("[!.]*.json")}
    assert len(before) < 8 and (sent == signal.SIGKILL or len(study.table()) == len(before))
    study.leaves_no_orphans()
    assert subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    assert all(file.stat().st_mtime_ns == then for file, then in before.items())
    # Begun again: of two workers the run under way, and one that had ended but was not yet written down.
    assert len(study.table()) == 8 and sum(study.calls().values()) <= 8 + 2 * 2


def test_a_time_limit(study):
    rows = study({"a": ["stopped", 1]}, timeout=4.0)
    assert [row["error"] for row in rows] == ["the run was ended after timeout = 4 s", None]
    assert not alive(int(open("stopped").read()))


def test_cluster(study):
    """The same rows, whatever the nanny's OMP_NUM_THREADS is and runs do; also after kill -9 of a process of dask."""
    cluster = pytest.importorskip("distributed").LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    where = {"workers": None, "scheduler": cluster.scheduler_address}
    rows = study({"a": [1, "killed", "fail"]}, threads=3, **where)
    assert [row["error"] for row in rows] == [None, OUTCOMES["killed"], OUTCOMES["fail"]] and rows[0]["threads"] == "3"
    def kill_one():
        wait_until(lambda: len(study.calls()) >= 6)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
    killer = threading.Thread(target=kill_one)
    killer.start()
    rows = study({"a": list(range(10, 16)), "b": ["x"], "delay": [0.5]}, folder="killed", **where)
    killer.join()
    assert [row["text"] for row in rows] == [f"{a}x" for a in range(10, 16)]
    cluster.close()
    study.leaves_no_orphans()


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_of_the_user(kind, study):
    with kind(2) as executor:
        rows = study({"a": [1, "fail", 2]}, workers=None, executor=executor)
        assert [row["error"] for row in rows] == [None, OUTCOMES["fail"], None]
        assert executor.submit(abs, -3).result() == 3   # not shut down
    assert sum(study.calls().values()) == 3


def test_parts_of_an_array_of_jobs(study):
    """Each makes its runs, and the table has all that there are."""
    grid = {"a": list(range(7)), "b": ["x"]}
    for k, calls in (3, 2), (1, 5), (2, 7), (2, 7):
        rows = study(grid, part=(k, 3))
        assert sum(study.calls().values()) == calls == len(rows) == len(study.table())
    assert [row["a"] for row in rows] == grid["a"]


def test_an_executor_that_cannot_cancel(study):
    """Such as that of Parsl."""
    class Stubborn(ThreadPoolExecutor):
        def submit(self, *task, **how):
            future = super().submit(*task, **how)
            future.cancel = self.refuse
            return future

        def refuse(self):
            raise NotImplementedError

    with Stubborn(1) as executor:
        assert [row["text"] for row in study({"a": [1, 2]}, workers=None, executor=executor)] == ["1x", "2x"]


@pytest.mark.parametrize("text, found", [
    ("1,2.5,x", [1, 2.5, "x"]), ("0:3", [0, 1, 2]), ("9:0:-4", [9, 5, 1]), ("-1e3", [-1000.0]),
    ("True,None", [True, None]), ('["a,b", 1]', ["a,b", 1]), ("hertz:onset=corrected", ["hertz:onset=corrected"])])
def test_values_on_the_command_line(text, found):
    values = command.values(text)
    assert values == found and [type(one) for one in values] == [type(one) for one in found]


def test_study_on_the_command_line(study, capsys):
    """Parts make the table together, one more value continues it; a run that fails sets the status."""
    words = ["study", "script.py:study", "a=1:4", "b=x,y", "--out", "out", "--workers", "1"]
    for part, calls in ("2/2", 3), ("1/2", 6):
        assert command_line.main([*words, "--part", part]) == 0
        assert sum(study.calls().values()) == calls == len(study.table())
    words[2] = "a=1,2,3,fail"
    assert command_line.main(words) == 1 and sum(study.calls().values()) == 8
    assert command_line.main(["study", "script.py:study", "c=1"]) == 2
    assert "it is called with (c), and takes (a" in capsys.readouterr().err
    for wrong, said in (("a", "give NAME=VALUES"), ("a=[1", "give NAME=VALUES"), ("--part=0", "give K/N"),
                        ("a=4", "a is given 2 times; give all its values at once, a=1,2")):
        with pytest.raises(SystemExit, match="2"):
            command_line.main([*words, wrong])
        assert said in capsys.readouterr().err


KINDS = """
import functools, sys
from minidem.ensemble import run_ensemble
from .neighbour import FACTOR

def multiplied(function):
    @functools.wraps(function)
    def wrapper(**parameters):
        return {name: FACTOR * value for name, value in function(**parameters).items()}
    return wrapper

@multiplied
def decorated(a):
    return {"x": a}

class Model:
    def method(self, a):
        return {"x": 4 * a}

other_name = multiplied(Model().method)                  # is called "method" by functools.wraps
bound, partial = Model().method, functools.partial(decorated)

if __name__ == "__main__":
    [row] = run_ensemble(decorated, {"a": [5]}, sys.argv[1], workers=1, progress=False)
    print(row["error"] or row["x"])
"""


OWN = """
import sys, minidem as md
def move(bodies, dt, stage):
    pass
md.rotation.register("mine", move)
"""
USES = """
import minidem as md
def study(rotation):
    open("called", "a").write("x")
    end = md.rotation.integrate(rotation, (1, 2, 3), (1, 0, 0, 0), (0, 0, 1), (0, 0, 0), 0.1, 2)
    return {"w": float(abs(end.orientation[..., 0]).max())}
"""


@pytest.fixture
def own_scheme(here):
    """A file that registers the scheme 'mine', which this process has imported, and one with a study of schemes."""
    (here / "mine.py").write_text(OWN)
    (here / "uses.py").write_text(USES)
    import_own("mine.py", "mine.py")
    yield "mine.py"
    registry._registry.remove_own()


def test_runs_that_do_not_know_a_scheme(own_scheme, here):
    """The runs' processes are new ones: what this one has registered is missing there, and that is said before."""
    grid = {"rotation": ["spiral", "mine:"]}
    with pytest.raises(ValueError, match=r"grid\['rotation'\]: 'mine:' is registered in this process, .* imports="):
        run_ensemble("uses.py:study", grid, "out", workers=1, progress=False)
    assert not Path("called").exists() and not Path("out").exists()
    for wrong in ("none.py", "no_such_module"):
        with pytest.raises(ValueError, match=f"imports: .*{wrong}: cannot be imported"):
            run_ensemble("uses.py:study", grid, "out", workers=1, progress=False, imports=[wrong])
    rows = run_ensemble("uses.py:study", grid, "out", workers=1, progress=False, imports=[own_scheme])
    assert [row["error"] for row in rows] == [None, None] and rows[1]["w"] == 1.0 > rows[0]["w"]


@pytest.mark.filterwarnings("ignore:Data has no positive values:UserWarning")       # of a single point
def test_import_of_a_scenario(own_scheme, here, capsys):
    """Schemes of a file in options of a study, before and behind --import, and in its processes."""
    words = ("--system clumps --contact hertz --steps 1e-4 --time 3e-3 --seeds 1 --workers 1 --quiet "
             "--integrators mine --out out")
    assert energy_pareto.main(words.split()) == 2       # registered in this process only
    assert "grid['integrator']: 'mine' is registered in this process, and" in capsys.readouterr().err
    registry._registry.remove_own()
    assert energy_pareto.main(words.split()) == 2 and "'mine'" in capsys.readouterr().err
    assert energy_pareto.main([*words.split(), "--import", "none.py"]) == 2
    assert "--import none.py: cannot be imported" in capsys.readouterr().err
    assert energy_pareto.main([*words.split(), "--import", own_scheme]) == 0
    [row] = csv.DictReader(Path("out", "curves.csv").open(newline=""))
    assert row["integrator"] == "mine" and row["failed"] == "0" and row["error"]


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_runs_import_a_cython_file(own, here):
    """Its schemes are registered, here and in the processes of the runs, which are in other folders."""
    source = Path(md.rotation.__file__).with_name("euler.pyx").read_text(encoding="utf-8")
    Path("mine.pyx").write_text(source.replace('name="euler"', 'name="mine"'), encoding="utf-8")
    Path("uses.py").write_text(USES)
    import_own("mine.pyx", "--import mine.pyx")
    one, other = run_ensemble("uses.py:study", {"rotation": ["euler", "mine"]}, "out", workers=1, progress=False,
                              imports=["mine.pyx"])
    assert one["error"] is None and one["w"] == other["w"]


def test_functions(tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    for name, text in (("__init__", ""), ("neighbour", "FACTOR = 6"), ("kinds", KINDS)):
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("package.kinds")
    assert reference_to(module.decorated) == "package.kinds:decorated"
    for name, factor in {"decorated": 6, "other_name": 24, "bound": 4, "partial": 6}.items():
        assert worker.perform(f"package.kinds:{name}", {"a": 7})["result"] == {"x": 7 * factor}
    for name in "other_name", "bound", "partial":
        with pytest.raises(ValueError, match="top level of a module or script"):
            reference_to(getattr(module, name))
    assert python("-m", "package.kinds", "study", cwd=tmp_path).stdout.split() == ["30"]


def test_a_script_that_runs_its_study_when_it_is_imported(tmp_path):
    """No run starts a study of its own, which would start runs, and so on."""
    script = tmp_path / "script.py"
    script.write_text("""
from minidem.ensemble import run_ensemble
def function(a):
    return {"x": a}
print([row["error"] for row in run_ensemble(function, {"a": [1]}, "study", workers=1, progress=False)])
""")
    done = subprocess.run([sys.executable, script], text=True, cwd=tmp_path, capture_output=True, timeout=100)
    assert "__main__" in done.stdout and "run_ensemble is called while its function is imported" in done.stdout
    with pytest.raises(ValueError, match="cannot be imported .RuntimeError: run_ensemble is called while"):
        run_ensemble(f"{script}:function", {"a": [1]}, tmp_path / "other", workers=1, progress=False)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("change, match", [
    ({"grid": {}}, "grid = {}"), ({"grid": {"a": []}}, "at least one value of each"),
    ({"grid": {"a": 1}}, r"grid\['a'\] = 1: give a list"), ({"grid": {"a": "xy"}}, r"give a list of values, \['xy'\]"),
    ({"grid": {"a b": [1]}}, "'a b' is no name"), ({"grid": {"a": [1, 2, 1]}}, r"grid\['a'\]\[2\] = 1: give"),
    ({"grid": {"a": [1.0, float("nan")]}}, r"grid\['a'\]\[1\] = nan"),
    ({"grid": {"a": [(1, 2)]}}, r"grid\['a'\]\[0\] = \(1, 2\)"),
    ({"grid": {"error": [2.0]}}, "grid: 'error' is no name"),
    ({"grid": {"a": [1], "dela": [2]}}, r"^function = .*\(a, dela\).*\(a, b='x', delay=0.0\)"),
    ({"grid": {"b": ["x"]}}, "^function = .*missing a required argument: 'a'"),
    ({"cost": lambda: 1.0}, r"cost = .* called with \(parameters\), and takes \(\)"),
    *(({"timeout": timeout}, "timeout") for timeout in (0.0, -1.0, float("nan"), "10", True)),
    ({"workers": 0}, "workers = 0"), ({"threads": 0}, "threads = 0"), ({"folder": ""}, "folder = '': give a folder"),
    ({"scheduler": "tcp://here:1", "workers": 2}, "workers = 2 and scheduler"),
    ({"part": 3}, r"part = 3: give \(k, n\)"), ({"part": (0, 3)}, r"part\[0\] = 0"),
    ({"part": (4, 3)}, r"part\[0\] = 4"),
    ({"function": lambda a: {}}, "top level"), ({"function": "no_such_module:run"}, "no_such_module"),
    ({"function": "math:no_such_function"}, "no_such_function"),
    ({"function": "math.sqrt"}, "module:function"), ({"text": "raise SystemExit(0)"}, "SystemExit: 0"),
    ({"text": "import sys\nsys.argv[999]"}, "IndexError"), ({"text": "def f(:"}, "SyntaxError"),
    ({"text": "study = 3"}, "function = 3: give a function of")])
def test_what_is_refused_before_any_run(change, match, study):
    (study.folder / "script.py").write_text(change.pop("text", SCRIPT))
    with pytest.raises(ValueError, match=match):
        run_ensemble(**({"function": "script.py:study", "grid": {"a": [1]}, "folder": "new"} | change))
    assert [path.name for path in study.folder.iterdir() if path.name != "__pycache__"] == ["script.py"]
