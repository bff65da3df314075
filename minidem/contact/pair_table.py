"""Materials of a simulation by index, and the properties of contacts between each two of them."""
from itertools import product

import numpy as np

from minidem.core.checks import short_repr
from minidem.material import PAIR_PROPERTIES, described, effective_modulus, effective_shear_modulus

ELASTIC = {"modulus": effective_modulus, "shear_modulus": effective_shear_modulus}
PROPERTIES = (*ELASTIC, *PAIR_PROPERTIES)


class PairTable:
    """Materials and pairs. Materials are only ever appended, so that an index stays valid.

    Parameters
    ----------
    material : Material
        The simulation's, index 0.
    walls : sequence of Plane
        A wall without a material is of the simulation's.
    pairs : iterable of Pair
        Materials that do not occur may be among them.

    Attributes
    ----------
    materials : tuple of Material
        All different ones: the simulation's, those of the walls, those appended.
    wall_index : (n_walls,) int32 ndarray
        Index of each wall's material.
    pairs : tuple of Pair

    Raises
    ------
    ValueError
        Two pairs of the same two materials.
    """

    def __init__(self, material, walls=(), pairs=()):
        of_walls = [wall.material or material for wall in walls]
        self.materials = tuple(dict.fromkeys([material, *of_walls]))
        self._index = {known: k for k, known in enumerate(self.materials)}
        self.wall_index = np.array([self._index[m] for m in of_walls], dtype=np.int32)
        self.pairs, self._pair = tuple(pairs), {}
        for k, pair in enumerate(self.pairs):
            if frozenset((pair.a, pair.b)) in self._pair:
                raise ValueError(f"pairs[{k}] = {short_repr(pair)}: there is another pair of these two materials; give "
                                 "one of them")
            self._pair[frozenset((pair.a, pair.b))] = pair

    def with_material(self, material):
        """The table with a material appended; this one if it has it."""
        if material in self._index:
            return self
        table = object.__new__(PairTable)
        vars(table).update(vars(self), materials=(*self.materials, material),
                           _index=self._index | {material: len(self.materials)})
        return table

    def index(self, material):
        """Index of a material in `materials`; KeyError for another one."""
        return self._index[material]

    def properties(self, names):
        """Properties of contacts.

        Parameters
        ----------
        names : iterable of str
            Of PROPERTIES; 'modulus' is E* [Pa], 'shear_modulus' G* [Pa].

        Returns
        -------
        dict of str to (n, n) float64 ndarray
            By the indices of both materials; symmetric. NaN where a pair is not given: `require_pairs` refuses those
            that can meet.
        """
        return {name: np.array([[self._property(name, a, b) for b in self.materials] for a in self.materials])
                for name in names}

    def _property(self, name, a, b):
        if name in ELASTIC:
            return ELASTIC[name](a, b)
        return getattr(a if a == b else self._pair.get(frozenset((a, b))), name, np.nan)

    def moduli(self, material_index):
        """Elastic constants of the contacts of clumps (n,) with these indices; see `Material.compliance`.

        Returns
        -------
        (float, (n_walls,), (n,), (n_walls,), bool)
            E* between two clumps and at the walls [Pa], valid if all clumps have the same compliance; compliances of
            clumps and walls [1/Pa]; whether clumps differ in compliance.
        """
        of_material = np.array([material.compliance for material in self.materials])
        of_clumps, of_walls = of_material[material_index], of_material[self.wall_index]
        first = of_clumps[0] if len(of_clumps) else of_material[0]
        return 1.0 / (first + first), 1.0 / (of_walls + first), of_clumps, of_walls, (of_clumps != first).any()

    def require_pairs(self, law, values, material_index):
        """Refuse two different materials without a pair that can meet, for a law that reads properties of pairs.

        Parameters
        ----------
        law, values : ContactLaw and the values of its parameters
        material_index : (n_clumps,) int32
            Materials of all clumps; without any, those of clumps to come are assumed to be of the simulation's.

        Raises
        ------
        ValueError
            With the names, or the values, of both materials.
        """
        read = law.pair_properties(values)
        if not read:
            return
        clumps = np.unique(material_index).tolist() or [0]
        for k, other in product(clumps, np.union1d(clumps, self.wall_index).tolist()):
            a, b = self.materials[k], self.materials[other]
            if k != other and frozenset((a, b)) not in self._pair:
                raise ValueError(f"pairs: {described(a)} and {described(b)} can meet, and contact law {law.name!r} "
                                 f"reads {', '.join(read)} of their pair; add md.Pair(a, b, ...) of these two "
                                 "materials")
