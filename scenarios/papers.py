"""Names of version 0.13, for scripts of that version: Finding and lines are in minidem.scenario now."""
from minidem.scenario import Finding, Scenario, lines

__all__ = ["Finding", "PaperExperiment", "lines"]


def PaperExperiment(name, description, run, add_options=None, defaults=None, check=None):
    """Return Scenario(name, description, study=run, ...)."""
    return Scenario(name, description, study=run, add_options=add_options, defaults=defaults or {}, check=check)
