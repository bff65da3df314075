"""Distinct rows of an array."""
import numpy as np


def unique_rows(rows):
    """Return the distinct rows of an array in ascending order, their first indices, and for each row its number there.

    As np.unique with axis=0, which compares structured arrays: there Ctrl-C is a TypeError.

    Parameters
    ----------
    rows : (n, k) ndarray

    Returns
    -------
    distinct : (m, k) ndarray
    first : (m,) ndarray
        Of each of them, index of the first row equal to it.
    number : (n,) ndarray
        Of each row, index into `distinct`.
    """
    order = np.lexsort(rows.T[::-1])
    ordered, is_new = rows[order], np.ones(len(rows), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.cumsum(is_new) - 1
    return ordered[is_new], order[is_new], number
