"""Parameter studies: one function over a grid of parameters, on this machine or on a cluster; see guide/studies.md.

study.py has the parameters of all runs, their records and the table; worker.py the processes that make the runs, here
or on a cluster.
"""
from minidem.ensemble.study import run_ensemble

__all__ = ["run_ensemble"]
