"""Command lines of scenarios and studies: help, defaults, refused options and folders. A refusal leaves no files."""
import pytest
from rods_in_box import SCENARIO as RODS

from minidem.scenario import Scenario
from minidem.scenarios import module_of, paper_report

EXPERIMENT = Scenario("nothing", "Nothing.", study=lambda options, report: None)


@pytest.mark.parametrize("required", [False, True])
def test_help_has_defaults_that_are_functions(required, capsys):
    def add(group):
        group.add_argument("--quick", action="store_true")
        group.add_argument("--count", type=int, default=lambda options: 7, required=required)

    scenario = Scenario("pair", "Two steps.", build=None, add_options=add, defaults={
        "time": lambda options: 0.25 if options.quick else 1.5, "dt": 1e-5})
    with pytest.raises(SystemExit):
        scenario.main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "simulated time (default: 1.5; with --quick 0.25)" in text or required
    assert "simulated time (default: depends on other options)" in text or not required


def test_options():
    """Defaults are the published scenario; a box keeps the number density; integrators have several parameters."""
    options = vars(RODS.parse([]))
    expected = {"rods": 30, "box": 1.0, "integrator": "spiral", "dt": 38e-6, "time": 60.0, "seed": 1,
                "frames": 200, "out": "results/rods_in_box", "compare": None, "resume": False}
    assert {name: options[name] for name in expected} == expected
    for words, box in ("--rods 7", 1.0), ("--rods 240", pytest.approx(2.0, rel=1e-15)), ("--rods 240 --box 1.5", 1.5):
        assert RODS.parse(words.split()).box == box
    options = RODS.parse(["--compare", "spiral,omelyan:iterations=20,other=2,fincham"])
    assert options.compare == ["spiral", "omelyan:iterations=20,other=2", "fincham"]


def test_a_scenario_has_only_the_options_that_it_wants():
    plain = Scenario("plain", "Nothing random in it.", build=None, defaults={"time": 1.0})
    options = vars(plain.parse([]))
    assert not {"integrator", "compare", "dt", "seed"} & options.keys()
    with pytest.raises(ValueError, match="--seed"):
        plain.parse(["--seed", "3"])
    with pytest.raises(ValueError, match="unrecognized arguments: --contact hertz"):    # --contacts is an option
        plain.parse(["--contact", "hertz"])
    with pytest.raises(ValueError, match="unrecognized arguments: --tim=3, did you mean '--time'?"):
        plain.parse(["--tim=3"])


REFUSED = [         # (scenario, arguments, words of the message)
    *(("rods_in_box", *given) for given in (
        ("--integrator nosuch", "nosuch", "spiral", "omelyan"), ("--integrator omelyan:iterations=x", "iterations"),
        ("--compare spiral,nosuch", "nosuch", "omelyan"), ("--compare spiral,spiral", "--compare", "spiral,spiral"),
        ("--compare spiral,,omelyan", "--compare"), ("--integrator spiral --compare omelyan", "--compare"),
        ("--dt 0", "--dt", "above 0"), ("--dt nan", "--dt", "finite"), ("--dt fast", "--dt", "fast"),
        ("--time 0", "--time", "above 0"), ("--rods 0", "--rods", "at least 1"), ("--rods 2.5", "--rods", "2.5"),
        ("--rods 300 --box 0.7", "300 clumps", "solid fraction"), ("--box -1", "--box", "above 0"),
        ("--seed -1", "--seed", "at least 0"), ("--fields velocity,speed", "--fields", "'speed'", "orientation"),
        ("--threads 0", "--threads", "at least 1"), ("--resume", "--resume", "no checkpoint"),
        ("--nosuch", "--nosuch"), ("stray", "stray"), ("--energy-limit 0", "--energy-limit"),
        ("--track-every 0.1", "--track-every"), ("--track all --frames 1", "--track"), ("--track 0", "--track"),
        ("--track some", "--track"), ("--contacts --frames 0", "--contacts"))),
    ("clump_gas", "--count 2", "at least 10"), ("clump_gas", "--count 10 --fraction 0.6", "solid fraction"),
    ("dense_rods", "--rods 0", "--rods"), ("dense_rods", "--fraction 0", "--fraction"),
    ("dense_rods", "--thermalise -1", "--thermalise"), ("dense_rods", "--rods 100 --fraction 0.7", "solid fraction"),
    ("incline", "--contact hertz", "hertz-mindlin"), ("incline", "--friction 0", "above 0"),
    ("oblique_impact", "--contact hertz", "hertz-mindlin"), ("oblique_impact", "--resolution 3", "at least 20"),
    ("settling", "--shape cube", "choose from"), ("settling", "--friction -1", "friction"),
    ("settling", "--restitution 2", "restitution"), ("falling_fibres", "--fibres 2", "choose from"),
    *((study, *given) for study in ("energy_pareto", "rods_energy_study") for given in (
        ("--integrators spiral spirall", "--integrators: rotation is 'spirall', must be one of"),
        ("--integrators spiral spiral", "contains a name twice"), ("--workers 0", "--workers"))),
    ("energy_pareto", "--contact hertzz", "--contact: contact is 'hertzz', must be one of"),
    ("energy_pareto", "--time 1e-5 --steps 2e-5", "less than the step"),
    ("energy_pareto", "--seeds 0", "--seeds"), ("energy_pareto", "--steps 0", "--steps"),
    ("rods_energy_study", "--time 0.001", "less than 50 steps"),
    ("forced_sphere", "--dt 1e-4", "--dt"), ("forced_cylinder", "--smallest-step 1e-3", "--smallest-step"),
    ("spinning_top", "--time 0.01", "--time"), ("coupled_cylinders", "--dt 0.1", "--dt"),
    ("tennis_racket", "--tilt 0.6", "--tilt"),
    ("chess_energy_study", "--workers 2 --scheduler tcp://here:1", "--workers and --scheduler"),
    ("chess_energy_study", "--steps 1e-6,0", "--steps"), ("chess_energy_study", "--steps 2.0", "--time"),
    ("impact", "--particles bed.txt --clump rod", "leave one of them out"),
    ("impact", "--quick --particles nothing.txt", "no line with radius x y z"),
    ("impact", "--quick --particles short.txt", "in line 2"),
    ("impact", "--quick --particles words.txt", "not four numbers"),
    ("drum", "--soft --particles large.txt", "a radius of 0.003 m"),
    ("drum", "--soft --particles large.txt --clump rod", "leave one"),
    *((name, "--steps 1", "--steps") for name in ("custom_integrator", "custom_law", "capillary_bridge",
                                                  "cohesive_slope"))]
PARTICLES = {"nothing": "", "short": "0.001 0 0\n0.001 0 0 0\n", "words": "0.001 0 0 nought\n0.001 0 0 0\n",
             "large": "0.003 0.0 0.0 0.0\n"}


@pytest.mark.parametrize("name, arguments, messages", [(name, words, messages) for name, words, *messages in REFUSED])
def test_bad_arguments_are_refused_before_anything_is_written(name, arguments, messages, tmp_path, monkeypatch, capsys):
    for file, rows in PARTICLES.items():
        (tmp_path / f"{file}.txt").write_text("radius x y z\n" + rows)
    monkeypatch.chdir(tmp_path)
    assert module_of(name).main([*arguments.split(), "--out", "out"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"{name}: error: ") and said.err.count("\n") == 1
    for word in messages:
        assert word in said.err
    assert all(path.suffix == ".txt" for path in tmp_path.iterdir())


def test_folders_that_are_refused(tmp_path, monkeypatch, capsys):
    """Before any work: names that are none, files, and what cannot be made."""
    def never(options):
        raise AssertionError("work was begun")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    scenario = Scenario("never", "Never built.", never, {"time": 1.0, "integrator": "spiral", "dt": 1e-5})
    for main in (scenario.main, lambda words: scenario.main([*words, "--compare", "spiral,rk4"]), EXPERIMENT.main,
                 paper_report.main):
        assert main(["--out="]) == 2
        assert "'' is no folder" in capsys.readouterr().err
    with pytest.raises(ValueError, match="'' is no folder"):
        EXPERIMENT.run_into("")
    for main in (RODS.main, EXPERIMENT.main):
        for place in ("file", "file/below", "/proc/nosuch/below"):
            assert main(["--out", place]) == 2 and "--out" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "mine"
