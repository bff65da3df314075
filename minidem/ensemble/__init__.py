"""Parameter studies: one function over a grid of parameters, on this machine or on a cluster; see guide/studies.md.

Data flow: study.py (parameters of all runs, progress) -> worker.py (processes, here or of a cluster) -> store.py
(records, table). reference.py names the function for other processes.
"""
from minidem.ensemble.study import run_ensemble

__all__ = ["run_ensemble"]
