# distutils: extra_compile_args = -O1
"""The nearest known name in the error of a call with a misspelt keyword argument, as in Python from 3.13 on.

Compiled, so that no frame of it is in tracebacks, nor between a warning and the line that it is about.
"""
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


def suggest_keywords(kind):
    """Let the constructor of a class do so."""
    given = kind.__init__

    def __init__(self, *arguments, **options):
        try:
            given(self, *arguments, **options)
        except TypeError as error:
            explain(error, given, options)
            raise

    kind.__init__ = update_wrapper(__init__, given)
