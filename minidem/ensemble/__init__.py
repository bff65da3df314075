"""Parameter studies: one function over a grid of parameters, on this machine or a cluster; see guide/studies.md."""
from minidem.ensemble.study import run_ensemble

__all__ = ["run_ensemble"]
