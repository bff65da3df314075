"""What part of the clumps each thread owns: as many as it gets done in the same time.

A clump in a dense bed costs more than one that flies, and a processor that others use as well does less. The
results do not depend on who owns a clump: sums are ordered by the user's numbers (contact/gather.pyx).
"""
import numpy as np

WORTH_IT = 0.04             # change of a part, relative to an equal one, below which nothing is moved
LEAST = 0.25                # of an equal part


def even_out(shares, seconds):
    """Parts of the clumps for the threads (n,), from those that they had and the time that each worked on them [s].

    Half way to what would have taken all equally long: much of what differs once does not differ twice. The
    parts as they were, if a time is not known or little would change.
    """
    shares, seconds = np.asarray(shares, dtype=float), np.asarray(seconds, dtype=float)
    if not np.all(seconds > 0.0):
        return shares
    ideal = shares / seconds
    wanted = np.maximum(0.5 * (shares + ideal / ideal.sum()), LEAST / len(shares))
    wanted /= wanted.sum()
    return wanted if np.max(np.abs(wanted - shares)) * len(shares) > WORTH_IT else shares
