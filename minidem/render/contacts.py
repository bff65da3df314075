"""Contacts as tubes whose diameter is proportional to the force: force chains."""
from dataclasses import dataclass

import numpy as np

from minidem.render.colour import value_range
from minidem.render.extra import read, require

WIDTH = 0.4                 # diameter of the thickest tubes, in median lengths of the lines


@dataclass
class Contacts:
    """Contacts of a file of `sim.write_contacts`.

    Attributes
    ----------
    points : (n, 3)
        Middles of the lines [m].
    point_data : dict of (n,) or (n, 3)
        The data of the file, and `length` [m] and `direction` of the lines.
    """

    points: np.ndarray
    point_data: dict[str, np.ndarray]

    @classmethod
    def read(cls, path):
        lines = read(path)
        first, second = lines.points[0::2], lines.points[1::2]         # no two lines share a point
        data = {name: np.asarray(lines.cell_data[name]) for name in lines.cell_data.keys()}
        data["length"] = np.linalg.norm(second - first, axis=1)
        data["direction"] = (second - first) / np.maximum(data["length"], np.finfo(float).tiny)[:, None]
        return cls(0.5 * (first + second), data)

    @property
    def n_points(self):
        return len(self.points)


class Tubes:
    """Contacts in a picture.

    Parameters
    ----------
    samples : list of Contacts
        The largest force of their `value_range` has the diameter WIDTH times the median length of their lines; larger
        forces are drawn no thicker, and small ones no thinner than a pixel.
    pixel : float
        Width of a pixel [m].
    """

    def __init__(self, samples, pixel):
        from vtkmodules.vtkRenderingOpenGL2 import vtkOpenGLStickMapper
        length = np.concatenate([one.point_data["length"] for one in samples])
        _, self.largest = value_range(samples, "force")
        self.thinnest, self.thickest = pixel, WIDTH * np.median(length) if len(length) else 0.0
        self.mapper = vtkOpenGLStickMapper()
        self.mapper.SetOrientationArray("direction")
        self.mapper.SetScaleArray("size")
        self.actor = require().Actor()
        self.actor.SetMapper(self.mapper)
        self.actor.prop.ambient = 0.3

    def show(self, contacts, colours):
        """Draw these contacts. colours: (n,) values of the field."""
        self.actor.visibility = contacts.n_points > 0
        if contacts.n_points:
            tubes, data = require().PolyData(contacts.points.astype(np.float32)), contacts.point_data
            diameter = self.thickest * np.minimum(data["force"] / self.largest, 1.0)
            radius = 0.5 * np.maximum(diameter, self.thinnest)
            tubes["size"] = np.column_stack([data["length"], radius, radius]).astype(np.float32)
            tubes["direction"] = data["direction"].astype(np.float32)
            tubes["colour"] = colours
            self.mapper.SetInputData(tubes)
