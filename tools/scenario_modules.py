"""Import the scripts of scenarios/ as modules, under the names by which they import each other."""
import importlib
import sys
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def scenario_module(name):
    """Module of scenarios/NAME.py."""
    if str(SCENARIOS) not in sys.path:
        sys.path.append(str(SCENARIOS))
    return importlib.import_module(name)
