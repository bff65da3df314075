"""Command line of scenarios: help, defaults, refused options. A refusal leaves no files."""
from pathlib import Path

import pytest
from rods_in_box import SCENARIO as RODS

import minidem as md
from minidem.scenario import Scenario
from minidem.scenarios import module_of

SCRIPT = Path(__file__).parents[2] / "scenarios" / "rods_in_box.py"


def test_help_tells_options_and_integrators(capsys):
    with pytest.raises(SystemExit) as end:
        RODS.main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    for option in ("--integrator", "--dt", "--time", "--out", "--threads", "--seed", "--frames", "--fields", "--quiet",
                   "--checkpoint-every", "--resume", "--compare", "--rods", "--box"):
        assert option in text
    for name in md.rotation.available():
        assert name in text


def test_defaults_are_the_published_scenario():
    options = vars(RODS.parse([]))
    expected = {"rods": 30, "box": 1.0, "integrator": "spiral", "dt": 38e-6, "time": 60.0, "seed": 1,
                "frames": 200, "out": "results/rods_in_box", "compare": None, "resume": False}
    assert {name: options[name] for name in expected} == expected


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


def test_box_keeps_the_number_density():
    assert RODS.parse(["--rods", "7"]).box == 1.0
    assert RODS.parse(["--rods", str(30 * 8)]).box == pytest.approx(2.0, rel=1e-15)
    assert RODS.parse(["--rods", "240", "--box", "1.5"]).box == 1.5


def test_compare_takes_integrators_with_several_parameters():
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
    ("rods_in_box", "--integrator nosuch", "nosuch", "spiral", "omelyan"),
    ("rods_in_box", "--integrator omelyan:iterations=x", "iterations", "'x'"),
    ("rods_in_box", "--compare spiral,nosuch", "nosuch", "omelyan"),
    ("rods_in_box", "--compare spiral,spiral", "--compare", "spiral,spiral"),
    ("rods_in_box", "--compare spiral,,omelyan", "--compare", "spiral,,omelyan"),
    ("rods_in_box", "--integrator spiral --compare omelyan", "--compare", "--integrator"),
    ("rods_in_box", "--dt 0", "--dt", "above 0"), ("rods_in_box", "--dt=-1e-5", "--dt", "above 0"),
    ("rods_in_box", "--dt nan", "--dt", "finite"), ("rods_in_box", "--dt fast", "--dt", "fast"),
    ("rods_in_box", "--time inf", "--time", "finite"), ("rods_in_box", "--time 0", "--time", "above 0"),
    ("rods_in_box", "--rods 0", "--rods", "at least 1"), ("rods_in_box", "--rods 2.5", "--rods", "2.5"),
    ("rods_in_box", "--rods 300 --box 0.7", "300 clumps", "solid fraction"),
    ("rods_in_box", "--box nan", "--box", "finite"), ("rods_in_box", "--box -1", "--box", "above 0"),
    ("rods_in_box", "--seed -1", "--seed", "at least 0"), ("rods_in_box", "--frames -1", "--frames", "at least 0"),
    ("rods_in_box", "--fields velocity,speed", "--fields", "'speed'", "orientation"),
    ("rods_in_box", "--threads 0", "--threads", "at least 1"),
    ("rods_in_box", "--checkpoint-every 0", "--checkpoint-every", "above 0"),
    ("rods_in_box", "--resume", "--resume", "no checkpoint"), ("rods_in_box", "--nosuch", "--nosuch"),
    ("rods_in_box", "stray", "stray"),
    ("clump_gas", "--count 2", "at least 10"), ("clump_gas", "--count 10 --fraction 0.6", "solid fraction"),
    ("dense_rods", "--rods 0", "--rods"), ("dense_rods", "--fraction 0", "--fraction"),
    ("dense_rods", "--thermalise -1", "--thermalise"), ("dense_rods", "--rods 100 --fraction 0.7", "solid fraction"),
    ("incline", "--contact hertz", "hertz-mindlin"), ("incline", "--friction 0", "above 0"),
    ("incline", "--dt -1", "--dt"), ("oblique_impact", "--contact hertz", "hertz-mindlin"),
    ("oblique_impact", "--contact none", "none"), ("oblique_impact", "--resolution 3", "at least 20"),
    ("settling", "--shape cube", "choose from"), ("settling", "--friction -1", "friction"),
    ("settling", "--restitution 2", "restitution"),
    *((study, *given) for study in ("energy_pareto", "rods_energy_study") for given in (
        ("--integrators spiral spirall", "--integrators: rotation is 'spirall', must be one of"),
        ("--integrators spiral spiral", "contains a name twice"), ("--workers 0", "--workers"))),
    ("energy_pareto", "--contact hertzz", "--contact: contact is 'hertzz', must be one of"),
    ("energy_pareto", "--time 1e-5 --steps 2e-5", "less than the step"),
    ("energy_pareto", "--system rocks", "--system"),
    ("energy_pareto", "--seeds 0", "--seeds"), ("energy_pareto", "--steps 0", "--steps"),
    ("rods_energy_study", "--time 0.001", "less than 50 steps"), ("rods_energy_study", "--seed -1", "--seed"),
    ("forced_sphere", "--dt 1e-4", "--dt"), ("forced_cylinder", "--smallest-step 1e-3", "--smallest-step"),
    ("spinning_top", "--time 0.01", "--time"), ("coupled_cylinders", "--dt 0.1", "--dt"),
    ("tennis_racket", "--tilt 0.6", "--tilt"),
    ("chess_energy_study", "--workers 2 --scheduler tcp://here:1", "--workers and --scheduler"),
    *(("chess_energy_study", *given) for given in (
        ("--steps 1e-6,0", "--steps"), ("--steps 2.0", "--time"), ("--seeds 0", "--seeds"))),
    ("falling_fibres", "--fibres 2", "choose from"),
    *((name, "--steps 1", "--steps") for name in ("custom_integrator", "custom_law", "capillary_bridge",
                                                  "cohesive_slope"))]


@pytest.mark.parametrize("name, arguments, messages", [(name, words, messages) for name, words, *messages in REFUSED])
def test_bad_arguments_are_refused_before_anything_is_written(name, arguments, messages, tmp_path, capsys):
    assert module_of(name).main([*arguments.split(), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"{name}: error: ") and said.err.count("\n") == 1
    for word in messages:
        assert word in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nosuch/below"])
def test_a_folder_that_cannot_be_written_is_refused(place, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert RODS.main(["--out", str(tmp_path / place)]) == 2
    assert "--out" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_a_bad_integrator_late_in_a_comparison_leaves_earlier_results_alone(tmp_path):
    assert RODS.main(["--time", "0.001", "--frames", "0", "--quiet", "--out", str(tmp_path / "spiral")]) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "spiral").iterdir()}
    assert RODS.main(["--compare", "spiral,nosuch", "--out", str(tmp_path)]) == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "spiral").iterdir()} == before
