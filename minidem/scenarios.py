"""The scripts of scenarios/ as modules: ``from minidem.scenarios import drum``.

The folder is in the package in an installed wheel and beside it in a source tree.
"""
from importlib import import_module

from minidem.core.interpreter import scenario_folder, scenario_scripts

__path__ = [str(scenario_folder())]


def module_of(name):
    """The module of the script NAME.py, in whatever subfolder."""
    parts = scenario_scripts()[name].relative_to(scenario_folder()).with_suffix("").parts
    return import_module(".".join([__name__, *parts]))
