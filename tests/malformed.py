"""What a wrong script may pass in: junk of every type, and good values with one thing wrong about them.

`@malformed(share, name=strategy, ...)` makes a pytest test of a check of one drawn case: a few examples by
default, `share` per cent of LONG as a test that is marked slow. The functions under test must raise a
clear exception, or give something sound.
"""
import faulthandler
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import (  # noqa: E402
    HealthCheck,
    given,
    settings,
    strategies as st,  # noqa: E402
)

SHORT, LONG = 100, 10_000       # examples of a test by default; of all together in the slow run
PATIENCE = 60                  # [s] a case that takes longer hangs: the traceback is shown and the process ends

ITSELF = []
ITSELF.append(ITSELF)
BAD_NUMBERS = [np.nan, np.inf, -np.inf, 0, -1, -0.0, 5e-324, -1e-300, 1e60, 1e160, -1e308, 10 ** 400, 2 ** 63, 1j,
               None, "1", "x", b"1", True, [], [1.0], Decimal("1"), np.datetime64("2000"), np.float16(65504)]
JUNK = BAD_NUMBERS + [
    "", "\0", "a b", (), {}, {1: 2}, {1, 2}, object(), object, len, lambda *_: None, range(3), iter([1.0, 2.0]), [[]],
    ITSELF, [[1, 2], [3]], ["a", "b", "c"], np.zeros((0, 3)), np.zeros((2, 3, 4)), np.full(3, np.nan), np.array(["a"]),
    np.array([None, 1]), np.zeros(2, dtype="f8,i4"), np.ma.masked_all(3), memoryview(b"abc"), Path("nosuch"),
    slice(3), NotImplemented, ..., Exception("x"), np.float64, np.bool_(True), np.array(2.0),
    np.array([1.0, 2.0, 3.0], dtype=">f4"),
]


def junk():
    return st.sampled_from(JUNK)


def spoilt(good):
    """Values like `good`, with something wrong about them, or not."""
    if isinstance(good, str):
        return st.one_of(junk(), st.text(max_size=30), st.text("omelyan:spiral=,;{}%\n1e", max_size=20))
    if isinstance(good, (list, tuple, np.ndarray)) and np.asarray(good).dtype.kind in "iuf":
        return st.one_of(junk(), _spoilt_array(np.asarray(good, dtype=float)))
    return st.one_of(junk(), st.integers(-2 ** 70, -1), st.floats())


@st.composite
def _spoilt_array(draw, good):
    rows = good.tolist()
    kind = draw(st.sampled_from(["element", "drop", "more", "deeper", "flat", "turned", "text", "object", "scaled"]))
    if kind == "element":
        if good.ndim == 0 or good.size == 0:
            return draw(junk())
        inner, spot = rows, draw(st.integers(0, good.size - 1))
        *path, last = np.unravel_index(spot, good.shape)
        for k in path:
            inner = inner[k]
        inner[last] = draw(st.one_of(st.sampled_from(BAD_NUMBERS), st.floats()))
        return rows
    if kind == "drop":
        return good[..., :-1]
    if kind == "more":
        return np.concatenate([good, good[..., :1]], axis=-1)
    return {"deeper": lambda: [rows], "flat": lambda: good.ravel(), "turned": lambda: good.T,
            "text": lambda: good.astype(str), "object": lambda: good.astype(object),
            "scaled": lambda: good * draw(st.floats())}[kind]()


def malformed(share, **strategies):
    """Decorator: check(folder, **drawn) becomes a test with SHORT examples and, slow, `share` % of LONG."""
    def decorate(check):
        many = LONG * share // 100

        @pytest.mark.parametrize("examples", [SHORT, pytest.param(many, marks=pytest.mark.slow, id=f"{many} inputs")])
        @pytest.mark.filterwarnings("ignore")
        def test(examples, tmp_path, monkeypatch):
            seen = []
            refused.clear()

            def counted(**drawn):
                faulthandler.dump_traceback_later(PATIENCE, exit=True)
                seen.append(1)
                check(tmp_path, **drawn)

            monkeypatch.chdir(tmp_path)
            how = settings(max_examples=examples, deadline=None, derandomize=True, database=None,
                           report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
            try:
                how(given(**strategies)(counted))()
            finally:
                faulthandler.cancel_dump_traceback_later()
            assert len(seen) >= examples
            print(f"\n{len(seen)} inputs, {len(refused)} of them refused")
        test.__doc__ = check.__doc__
        return test
    return decorate


refused = []        # the exceptions of the test that runs


def refused_or(call, *names):
    """The result of call(), or None if it refuses by an exception whose text has one of `names`.

    An OSError has the name of the file. FloatingPointError: taken, but the scheme could not follow.
    """
    try:
        return call()
    except OSError as error:
        refused.append(str(error))
        assert error.filename, error
    except FloatingPointError as error:
        refused.append(str(error))
        assert "step" in str(error), error
    except (ValueError, TypeError) as error:
        refused.append(str(error))
        assert not names or any(name in str(error) for name in names), f"{type(error).__name__}: {error}"
    return None
