"""The scripts of scenarios/ as modules. Run as scripts, they import each other by the same names."""
import importlib
import sys
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def scenario_module(name):
    """The module of scenarios/NAME.py."""
    if str(SCENARIOS) not in sys.path:
        sys.path.append(str(SCENARIOS))
    return importlib.import_module(name)
