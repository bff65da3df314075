"""Experiments of published papers: published numbers compared with those of minidem."""
from minidem.reproduction.experiment import PaperExperiment
from minidem.reproduction.finding import Finding

__all__ = ["Finding", "PaperExperiment"]
