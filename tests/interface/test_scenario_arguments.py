"""Wrong arguments of scenarios: exit status 2, the option is named, and nothing is written."""
import pytest

from minidem.scenarios import module_of

REFUSED = [
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
    *((name, "--steps 1", "--steps") for name in ("custom_integrator", "custom_law", "capillary_bridge",
                                                  "cohesive_slope"))]


@pytest.mark.parametrize("name, words, message", REFUSED)
def test_refused_before_anything_is_written(name, words, message, tmp_path, capsys):
    assert module_of(name).main([*words.split(), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
