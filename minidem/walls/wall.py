"""What all walls have in common: a material and a motion."""
from collections.abc import Callable

from minidem.core.checks import LARGEST, check_call, finite_array, short_repr
from minidem.material import Material
from minidem.walls.servo import Servo


class Wall:
    """Base class of `Plane`, `Cylinder` and `MeshWall`."""

    def _check_motion(self, reference):
        """Check material and motion; `reference` (3,) is the default of the centre."""
        if self.material is not None and not isinstance(self.material, Material):
            raise ValueError(f"material = {short_repr(self.material)}: give a Material, or None for the simulation's")
        if not (self.motion is None or isinstance(self.motion, Servo | Callable)):
            raise ValueError(f"motion = {short_repr(self.motion)}: give md.Oscillation, md.Servo, or a function of the "
                             "time that returns (displacement (3,), rotation vector (3,))")
        if callable(self.motion):
            check_call("motion", self.motion, "t")
        for name in ("velocity", "angular_velocity"):
            self._set(name, finite_array(name, getattr(self, name), (3,), limit=LARGEST))
        self._set("center", finite_array("center", reference if self.center is None else self.center, (3,),
                                         limit=LARGEST))

    def _set(self, name, array):
        """Store an array as a tuple, so that walls compare by value."""
        object.__setattr__(self, name, tuple(array.tolist()))

    @property
    def moves(self) -> bool:
        """Whether a motion is given."""
        return self.motion is not None or any(self.velocity) or any(self.angular_velocity)


def wall_list(name, walls):
    """Return `walls` as a list, empty for None; raise ValueError for anything else."""
    remedy = "give minidem.Plane, Cylinder and MeshWall objects, or those of minidem.box(low, high)"
    if walls is not None and not isinstance(walls, list | tuple):
        raise ValueError(f"{name} = {short_repr(walls)}: give a list; {remedy}")
    for k, wall in enumerate(walls or []):
        if not isinstance(wall, Wall):
            raise ValueError(f"{name}[{k}] = {short_repr(wall)}: {remedy}")
    return list(walls or [])
