"""The record that describes a rotation scheme; registry, help, tests and tables follow from it."""
import math
import re
from dataclasses import dataclass, field

from minidem.rotation.scheme import Limits


@dataclass(frozen=True)
class Scheme:
    """One rotation scheme.

    name, title, doi, equations : what it is called, and where its formula is printed.
    kernels : its compiled functions (rotation/scheme.pxd).
    stages : instants of the force evaluations of a step, as fractions of it; (1,) for most.
    angular_velocity_offset : instant of the stored angular velocity relative to the pose, in steps
        (-0.5 for leapfrogs).
    orientation_offset : the same for the stored orientation.
    orientation_scratch, angular_velocity_scratch : first scratch number of the stored orientation
        and angular velocity, where they are not those of the pose; None where they are.
    order_q, order_w : global orders of convergence, synchronised, body torque constant.
    order_q_varying, order_w_varying : the same for a torque that varies.
    normalises : whether the orientation is normalised in every step.
    keeps_norm : whether the formula keeps its norm, but for rounding. What rounding adds up to, the time
        loop then removes every 32768 steps (time_loop.pyx).
    n_scratch : numbers per clump that it keeps beside orientation and angular velocity.
    parameters : name -> default number, or name -> tuple of words, the first being the default.
    """

    name: str
    title: str
    doi: str
    equations: str
    kernels: object = field(repr=False)
    stages: tuple = (1.0,)
    orientation_offset: float = 0.0
    angular_velocity_offset: float = 0.0
    orientation_scratch: int | None = None
    angular_velocity_scratch: int | None = None
    order_q: int = 1
    order_w: int = 1
    order_q_varying: int = 1
    order_w_varying: int = 1
    normalises: bool = False
    keeps_norm: bool = False
    n_scratch: int = 0
    parameters: dict = field(default_factory=dict)
    notes: str = ""

    def __post_init__(self):
        """ValueError for a record that the loop could not use."""
        def refuse(field_name, remedy):
            raise ValueError(f"{field_name} = {getattr(self, field_name)!r}: {remedy}")

        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", self.name):
            refuse("name", "give a name of letters, digits, hyphens and dots")
        if not (isinstance(self.stages, tuple) and 1 <= len(self.stages) <= Limits.MAX_STAGES
                and all(0.0 < c <= 1.0 for c in self.stages) and self.stages[-1] == 1.0):
            refuse("stages", f"give 1 to {Limits.MAX_STAGES} fractions of the step, above 0, the last of them 1")
        if not isinstance(self.n_scratch, int) or not 0 <= self.n_scratch <= 1000:
            refuse("n_scratch", "give a whole number from 0 to 1000")
        for field_name, width in (("orientation_scratch", 4), ("angular_velocity_scratch", 3)):
            first = getattr(self, field_name)
            if first is not None and not (isinstance(first, int) and 0 <= first <= self.n_scratch - width):
                refuse(field_name, f"give the first of {width} scratch numbers, n_scratch = {self.n_scratch}")
        if not isinstance(self.parameters, dict) or len(self.parameters) > Limits.MAX_PARAMETERS or not all(
                isinstance(default, (int, float)) or isinstance(default, tuple) and default
                for default in self.parameters.values()):
            refuse("parameters", f"give at most {Limits.MAX_PARAMETERS} names with a number, or a tuple of words")

    def values(self, given=""):
        """Parameter values as floats, in the order of the record, from text such as 'iterations=20'."""
        chosen = {name: default[0] if isinstance(default, tuple) else default
                  for name, default in self.parameters.items()}
        for item in filter(None, given.split(",")):
            name, _, text = item.partition("=")
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise ValueError(f"rotation {self.name!r} has no parameter {name!r} (parameters: {known})")
            chosen[name] = self._read(name, text)
        return [float(default.index(chosen[name]) if isinstance(default, tuple) else chosen[name])
                for name, default in self.parameters.items()]

    def _read(self, name, text):
        default = self.parameters[name]
        if isinstance(default, tuple):
            if text not in default:
                raise ValueError(f"rotation {self.name!r}: {name} is {text!r}, must be one of {', '.join(default)}")
            return text
        try:
            value = type(default)(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value > 0):
            kind = "whole number" if isinstance(default, int) else "number"
            raise ValueError(f"rotation {self.name!r}: {name} is {text!r}, must be a positive {kind}")
        return value
