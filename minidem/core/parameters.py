"""Parameters of rotation schemes and contact laws: text such as 'iterations=20,predictor=reused' to values."""
import math
from collections.abc import Mapping
from typing import Any

from minidem.core.checks import LARGEST, did_you_mean

LARGEST_INTEGER = 2**31 - 1


class Positive(float):
    """Default of a parameter above zero. The class itself: without a default, or last in a tuple of words."""

    wanted = f"a positive number, from {1.0 / LARGEST:g} to {LARGEST:g}"
    allows = staticmethod(lambda value: 1.0 / LARGEST <= value <= LARGEST)


class NonNegative(float):
    """Default of a parameter from zero on. The class itself has the meaning that `Positive` has."""

    wanted, allows = f"a number from 0 on, up to {LARGEST:g}", staticmethod(lambda value: 0.0 <= value <= LARGEST)


class Count(int):
    """Default of a parameter that is a positive whole number. The class itself has the meaning that `Positive` has."""

    wanted, allows = f"a positive whole number up to {LARGEST_INTEGER}", staticmethod(lambda value: value > 0)


RANGES = (Positive, NonNegative, Count)


def parameter_values(owner: str, parameters: Mapping[str, Any],
                     given: str | Mapping[str, str] = "") -> list[float | int]:
    """Values in the order of `parameters`; ValueError for one that is unknown, missing, or out of range.

    A word becomes its index, or -1 - index where numbers are allowed as well; an integer if the default is one; other
    values are floats.

    owner : for messages, such as "rotation 'omelyan'";  given : "name=value,...", or the texts by name
    parameters : name to default number; to a tuple of words, the first being the default; or to None: a number that
        must be given. Of a type of `RANGES`, or such a type in place of None: with its range.
    """
    chosen: dict[str, Any] = {name: default_of(one) for name, one in parameters.items()}
    for name, text in given.items() if isinstance(given, Mapping) else (
            item.partition("=")[::2] for item in given.split(",") if item):
        if name not in parameters:
            known = ", ".join(parameters) or "none"
            raise ValueError(f"{owner} has no parameter {name!r} (parameters: {known}){did_you_mean(name, parameters)}")
        chosen[name] = _read(f"{owner}: {name}", parameters[name], text)
    for name, value in chosen.items():
        if value is None:
            raise ValueError(f"{owner}: {name} is missing; give {name}=NUMBER, in text after a colon")
        if isinstance(value, str):
            index = parameters[name].index(value)
            chosen[name] = -1.0 - index if parameters[name][-1] in RANGES else index
    return list(chosen.values())


def default_of(one: Any) -> Any:
    """The default of a parameter, None if it must be given."""
    return one[0] if isinstance(one, tuple) else None if one in RANGES else one


def words_and_kind(one: Any) -> tuple[list[str], type | None]:
    """What a parameter allows: words, and the type of numbers, of which `RANGES` have a range; None: no numbers."""
    words = [word for word in one if isinstance(word, str)] if isinstance(one, tuple) else []
    limit = one[-1] if words else one
    return words, None if isinstance(limit, str) else limit if isinstance(limit, type) else type(limit)


def allowed(one: Any) -> str:
    """What a parameter allows, as text."""
    words, kind = words_and_kind(one)
    if kind is None:
        return f"one of {', '.join(words)}"
    wanted = f"a whole number up to {LARGEST_INTEGER}" if issubclass(kind, int) else "a finite number"
    return f"{''.join(word + ', ' for word in words)}{'or ' if words else ''}{getattr(kind, 'wanted', wanted)}"


def named_values(parameters: Mapping, values: list[float | int]) -> dict[str, float | int | str]:
    """Parameters by name, as given: the inverse of `parameter_values`, with words as words."""
    named = dict(zip(parameters, values))
    for name, default in parameters.items():
        if isinstance(default, tuple) and default[-1] not in RANGES:
            named[name] = default[named[name]]
        elif isinstance(default, tuple) and named[name] < 0.0:
            named[name] = default[int(-1.0 - named[name])]
    return named


def _read(what, default, text):
    words, kind = words_and_kind(default)
    if text in words:
        return text
    if kind is None:
        raise ValueError(f"{what} is {text!r}, must be {allowed(default)}{did_you_mean(text, words)}")
    number = int if issubclass(kind, int) else float        # NoneType allows any finite number
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    allows = getattr(kind, "allows", math.isfinite)
    if not (math.isfinite(value) and allows(value)) or number is int and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"{what} is {text!r}, must be {allowed(default)}")
    return value
