"""Continuum fields by coarse-graining: density, momentum, velocity, stresses, temperature on a grid.

Sums over clumps i with mass m, velocity v, centre of mass r, and over both ends of their contacts; phi is the kernel:

1. density rho(x) = sum m phi(x - r), momentum p(x) = sum m v phi(x - r), velocity V = p / rho
2. kinetic stress K_ab = sum m (v - V(x))_a (v - V(x))_b phi(x - r), which is sum m v_a v_b phi(x - r) - rho V_a V_b
3. contact stress C_ab = sum f_a l_b * integral over s from 0 to 1 of phi(x - c - s l); f is the force on the clump, l
   the vector from the point of contact c to the centre of mass
4. force of walls t(x) = sum f phi(x - c) over contacts with walls

(1), (2): I. Goldhirsch, Granul. Matter 12, 239 (2010), doi 10.1007/s10035-010-0181-z. (3) with lines that bend at the
point of contact, and (4): T. Weinhart, A. R. Thornton, S. Luding, O. Bokhove, Granul. Matter 14, 289 (2012), doi
10.1007/s10035-012-0317-4. Here compression is positive, and t acts on the clumps. For each kernel

5. dp_a/dt + sum over b of d/dx_b (rho V_a V_b + K_ab + C_ab) = rho g_a + t_a (+ user forces)

Means over cells have it as a balance of each cell: volume * dp_a/dt = volume * (rho g_a + t_a) minus what flows out
through the faces, where the mean of rho V_a V_b + K_ab + C_ab over a face is the mean of a grid flat along b. In a
periodic box whose lengths or rate of shear change, images are accelerated, which (5) does not have.
"""
from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.coarse_kernel import CUTOFF, KernelGrid
from minidem.analysis.contacts import image_shifts
from minidem.core.atomic import replace_text, replacing
from minidem.core.checks import LARGEST, as_array, check_call, file_path, finite_array, refuse, whole

MOST_CELLS = 2 ** 31 - 1    # which coarse_kernel.py counts in 32 bits
UNITS = {"density": "kg/m3", "momentum": "kg/(m2 s)", "velocity": "m/s", "contact_stress": "Pa", "kinetic_stress": "Pa",
         "temperature": "m2/s2", "wall_force": "N/m3"}          # of the fields of a file
_PLACES = {1: ("",), 3: ("_x", "_y", "_z"), 9: tuple(f"_{a}{b}" for a in "xyz" for b in "xyz")}
# A VTI file, which meshio does not write.
_HEAD = """<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="{spacing}">
<Piece Extent="{extent}">
<CellData>
"""
_ARRAY = '<DataArray type="Float64" Name="{}" NumberOfComponents="{}" format="binary">{}</DataArray>\n'
_TAIL = "</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n"


class Fields:
    """Means of coarse-grained fields over the cells of a regular grid, and over the samples that `measure` takes.

    Parameters
    ----------
    low, high : (3,) array_like
        Corners of the grid, lab frame [m]; inside a periodic box. Along an axis with low == high the fields are taken
        at this coordinate: on a plane, a line, at a point.
    cells : (3,) ints
        Numbers of cells; 1 along such an axis. A line has more than one along one axis.
    width : float or (3,) array_like
        Standard deviation of the Gaussian, of all or of each axis [m]; a diameter of the clumps is usual. 0: no
        smoothing, a clump counts in the cell of its centre, a branch in each cell by its part there.
    clumps : callable, optional
        simulation -> (n_clumps,) bool, those that count, such as grains of one size: their density over the density of
        all is a concentration. Stresses are then partial ones, of the ends of contacts at these clumps. Default: all.

    Raises
    ------
    ValueError
        For an argument out of range.

    Attributes
    ----------
    samples : int
    edges, centers : list of (cells + 1,), (cells,) arrays, of the cells along each axis; both (1,) on a plane [m]
    density : (nx, ny, nz) array [kg/m3]
    momentum, velocity : (nx, ny, nz, 3) [kg/(m2 s)], [m/s]; velocity and temperature are nan where the density is 0
    contact_stress, kinetic_stress : (nx, ny, nz, 3, 3) [Pa]
        Compression is positive, force in the row and branch in the column, as `Simulation.stress`.
    temperature : (nx, ny, nz), trace of the kinetic stress / (3 density) [m2/s2]
    wall_force : (nx, ny, nz, 3), force of walls on clumps [N/m3]

    Notes
    -----
    The kernel is the Gaussian, cut off at three widths along each axis and divided by what is left. The guide
    (measurements) says where the fields contain the whole mass.

    Over samples, density, momentum, sum of m v v, contact stress and wall force are averaged. The velocity is the
    mean momentum over the mean density of a cell, and the kinetic stress comes from fluctuations about this velocity,
    in time and between clumps. It contains the part of a mean flow that is not resolved: with a velocity gradient G
    about density * (width^2 + cell^2 / 12) * G G^T.
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, cells: Sequence[int] | np.ndarray, width: ArrayLike,
                 clumps: Callable | None = None):
        if clumps is not None:
            check_call("clumps", clumps, "simulation")
        low, high = finite_array("low", low, (3,), limit=LARGEST), finite_array("high", high, (3,), limit=LARGEST)
        refuse("high", high, high < low, f"give high at or above low = {low.tolist()} in every component")
        finite_array("cells", cells, (3,))
        cells = np.array([whole(f"cells[{k}]", n, 1) for k, n in enumerate(cells)])
        refuse("cells", cells, (low == high) & (cells > 1), "along an axis with low = high there is one; give 1")
        width = finite_array("width", width, (3,), repeat=True, limit=LARGEST)
        refuse("width", width, (width < 0.0) | (low == high) & (width == 0.0),
               "give a length above 0, or 0 for no smoothing along an axis with low < high")
        count = math.prod(cells.tolist())
        try:
            if count > MOST_CELLS:
                raise MemoryError
            self._sums = np.zeros((*cells, 25))     # of m, m v, m v v; f l; f at walls
        except MemoryError:
            raise ValueError(f"cells = {cells.tolist()}: the fields of {count} cells take {count * 2e-7:.3g} GB, which "
                             "is too much; give fewer cells") from None
        self._grid, self._chosen, self.samples = KernelGrid(low, high, cells, width), clumps, 0

    def __repr__(self):
        low, high, cells, width = (getattr(self._grid, name).tolist() for name in ("low", "high", "cells", "width"))
        return f"<Fields from {low} to {high} m: cells {cells}, width {width} m, {self.samples} samples>"

    def measure(self, sim) -> None:
        """Add a sample of the present instant; a callback of `sim.run`.

        Raises
        ------
        ValueError
            Where the grid is not inside a periodic box, or the kernel reaches farther than half of its length.
        """
        box, grid = sim.box, self._grid
        if box is not None:
            box.refuse_outside(grid.low, grid.high)
            refuse("width", grid.width, box.axes & (2.0 * grid.reach > box.length), f"the kernel reaches {CUTOFF:g} "
                   f"widths, at most half of the periodic box; give at most a sixth of {box.length.tolist()} m")
        chosen = as_array("result of clumps", np.ones(sim.n_clumps) if self._chosen is None else self._chosen(sim))
        counts = finite_array("result of clumps", chosen * 1.0 if chosen.dtype == bool else chosen, (sim.n_clumps,))
        new = np.concatenate([self._of_clumps(sim, box, counts), *self._of_contacts(sim, box, counts)], axis=-1)
        self.samples, self._sums = self.samples + 1, self._sums + new

    def _of_clumps(self, sim, box, counts):
        """Sums of m, m v, m v v with the kernel, 13 columns."""
        position, velocity = sim.position, sim.velocity
        number, place = self._images(box, position, np.zeros((1, 3)))
        velocity = velocity[number]
        if box is not None and box.moves:
            velocity += box.flow(place) - box.flow(position[number])
        mass = (sim.mass * counts)[number]
        momentum = mass[:, None] * velocity
        flux = np.einsum("na,nb->nab", momentum, velocity).reshape(-1, 9)
        return self._grid.points(place, np.column_stack([mass, momentum, flux]))

    def _of_contacts(self, sim, box, counts):
        """Sums of f l with the mean of the kernel along l, 9 columns, and of forces of walls at their points, 3."""
        found, position = sim.contacts(), sim.position
        pairs = found["clump_j"] >= 0
        i, j = found["clump_i"], found["clump_j"][pairs]
        point, ends, others = found["point"], position[i], position[j]
        force, reaction = found["force"] * counts[i, None], -found["force"][pairs] * counts[j, None]
        others = others + image_shifts(sim, found)[pairs]
        at_walls = force[~pairs]
        start, force = np.concatenate([point, point[pairs]]), np.concatenate([force, reaction])
        branch = np.concatenate([ends, others]) - start
        number, place = self._images(box, start, branch)
        stress = np.einsum("na,nb->nab", force, branch).reshape(-1, 9)
        contacts = self._grid.lines(place, branch[number], stress[number])
        number, place = self._images(box, point[~pairs], np.zeros((1, 3)))
        return contacts, self._grid.points(place, at_walls[number])

    def _images(self, box, start, branch):
        """Numbers and places of all images of points (n, 3) that the kernel reaches from the grid, or their lines."""
        low, high = self._grid.low - self._grid.reach, self._grid.high + self._grid.reach
        shifts, numbers, places = np.zeros((1, 3)), [], []
        if box is not None:
            start, shifts = box.wrapped(start), box.shifts()
        for shift in shifts:
            place = start + shift
            near = (np.minimum(place, place + branch) <= high) & (np.maximum(place, place + branch) >= low)
            numbers.append(np.flatnonzero(near.all(axis=1)))
            places.append(place[numbers[-1]])
        return np.concatenate(numbers), np.concatenate(places)

    @property
    def edges(self) -> list[np.ndarray]:
        return [edges.copy() for edges in self._grid.edges]

    @property
    def centers(self) -> list[np.ndarray]:
        return [0.5 * (edges[:n] + edges[-n:]) for edges, n in zip(self._grid.edges, self._grid.cells)]

    def _mean(self, first, *shape):
        """Means of the columns from `first` on, as (nx, ny, nz, *shape)."""
        if not self.samples:
            raise ValueError("samples = 0: no field yet; call measure(sim), or give it to sim.run as a callback")
        columns = self._sums[..., first:first + int(np.prod(shape))]
        return columns.reshape(*self._grid.cells, *shape) / self.samples

    @property
    def density(self) -> np.ndarray:
        return self._mean(0)

    @property
    def momentum(self) -> np.ndarray:
        return self._mean(1, 3)

    @property
    def velocity(self) -> np.ndarray:
        return self._per_mass(self.momentum)

    @property
    def contact_stress(self) -> np.ndarray:
        return self._mean(13, 3, 3)

    @property
    def kinetic_stress(self) -> np.ndarray:
        return self._mean(4, 3, 3) - self.momentum[..., None] * np.nan_to_num(self.velocity)[..., None, :]

    @property
    def temperature(self) -> np.ndarray:
        return self._per_mass(np.einsum("...aa->...", self.kinetic_stress)[..., None])[..., 0] / 3.0

    @property
    def wall_force(self) -> np.ndarray:
        return self._mean(22, 3)

    def _per_mass(self, values):
        """Values (..., k) divided by the density; nan where it is 0."""
        density = self.density[..., None]
        return np.divide(values, density, where=density > 0.0, out=np.full(values.shape, np.nan))

    def columns(self) -> dict[str, np.ndarray]:
        """Columns (n,), one row per cell, for `pandas.DataFrame`: x, y, z of its centre, then the fields of UNITS.

        Vectors are NAME_x, NAME_y, NAME_z, tensors NAME_xx, NAME_xy ... NAME_zz. The z axis changes fastest.
        """
        found = dict(zip("xyz", (x.ravel() for x in np.meshgrid(*self.centers, indexing="ij"))))
        for name in UNITS:
            rows = getattr(self, name).reshape(len(found["x"]), -1)
            found |= {name + place: rows[:, k] for k, place in enumerate(_PLACES[rows.shape[1]])}
        return found

    def write_csv(self, path: str | Path) -> None:
        """Write `columns` to a CSV file, with all digits."""
        table = self.columns()
        with replacing(file_path("path", path, ".csv")) as temporary:
            np.savetxt(temporary, np.column_stack(list(table.values())), "%.17g", ",", header=",".join(table),
                       comments="")

    def write_vti(self, path: str | Path) -> None:
        """Write the fields of UNITS as cell data of an image file (VTI) for ParaView; tensors row by row."""
        low, cells = self._grid.low, np.where(self._grid.flat, 0, self._grid.cells)
        spacing = np.divide(self._grid.high - low, cells, where=cells > 0, out=np.ones(3))
        text = [_HEAD.format(extent=" ".join(f"0 {n}" for n in cells), origin=" ".join(map(repr, low.tolist())),
                             spacing=" ".join(map(repr, spacing.tolist())))]
        for name in UNITS:
            values = getattr(self, name)
            rows = values.transpose(2, 1, 0, *range(3, values.ndim)).astype("<f8").tobytes()        # x changes fastest
            coded = base64.b64encode(np.uint64(len(rows)).astype("<u8").tobytes() + rows).decode()
            text.append(_ARRAY.format(name, values[0, 0, 0].size, coded))
        replace_text(file_path("path", path, ".vti"), "".join([*text, _TAIL]))
