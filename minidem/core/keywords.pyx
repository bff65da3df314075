# distutils: extra_compile_args = -O1
"""Calls by keyword: the nearest known name in the error of a call with a misspelt one, as in Python from 3.13 on. Until
1.0: former names, and positional arguments for parameters that are keyword-only since 0.25.

Compiled, so that no frame of it is in tracebacks, nor between a warning and the line that it is about.
"""
import warnings
from functools import update_wrapper
from inspect import Parameter, signature

from minidem.core.checks import did_you_mean


def explain(error, function, options):
    """Add the name to a TypeError of the call of a function with these keyword arguments."""
    parameters = signature(function).parameters
    unknown = [name for name in options if name not in parameters]
    if unknown and "Did you mean" not in str(error) and not any(
            one.kind is Parameter.VAR_KEYWORD for one in parameters.values()):
        error.args = (f"{error}{did_you_mean(unknown[0], parameters)}",)


# Parameters whose names have changed since 0.24, by the function's qualified name.
RENAMED = {"Pair.__init__": {"contact": "interacts"}, "Walls.force": {"k": "wall"}, "Walls.torque": {"k": "wall"},
           "Walls.velocity": {"k": "wall"}}


def renamed(function, options):
    """The options under their present names."""
    for old, new in RENAMED[function.__qualname__].items():
        if old in options and new not in options:           # of both, Python refuses the old one
            warnings.warn(f"{old} is now {new}; the old name ends with minidem 1.0", DeprecationWarning, stacklevel=1)
            options[new] = options.pop(old)
    return options


def by_name(function, arguments, options, first=()):
    """Arguments of a call, where those beyond the positional ones are options for keyword-only parameters, in order.

    first : names of parameters that come first in it.
    """
    code = function.__code__
    n = code.co_argcount
    names = sorted(code.co_varnames[n:n + code.co_kwonlyargcount], key=lambda name: name not in first)
    given = dict(zip(names, arguments[n:]))
    if len(given) < len(arguments) - n or given.keys() & options.keys():
        return arguments, options                           # Python says what is wrong
    warnings.warn(f"{function.__qualname__.removesuffix('.__init__')}: give {', '.join(given)} by name; positional "
                  "arguments for this end with minidem 1.0", DeprecationWarning, stacklevel=1)
    return arguments[:n], options | given


def by_keyword(function, first=()):
    """Decorator: both for the calls of a function. first : see `by_name`"""
    def call(*arguments, **options):
        if len(arguments) > function.__code__.co_argcount:
            arguments, options = by_name(function, arguments, options, first)
        if function.__qualname__ in RENAMED:
            options = renamed(function, options)
        try:
            return function(*arguments, **options)
        except TypeError as error:
            explain(error, function, options)
            raise

    return update_wrapper(call, function)


def suggest_keywords(kind):
    """Both for the constructor of a class. Dataclasses have the keyword-only fields of their base first."""
    kind.__init__ = by_keyword(kind.__init__, vars(kind).get("__annotations__", ()))
