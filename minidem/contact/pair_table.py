"""Materials of a simulation by index, and the properties of contacts between each two of them."""
from copy import copy
from dataclasses import replace

import numpy as np

from minidem.core.checks import short_repr
from minidem.material import PAIR_PROPERTIES, label_of

MOST_MATERIALS = 1000                   # tables grow with the square: some 150 MB
ELASTIC = {"modulus": "compliance", "shear_modulus": "shear_compliance"}    # 1 / the sum over both materials
PROPERTIES = (*ELASTIC, *PAIR_PROPERTIES)


class GrowingTable:
    """Numbers (n, n, width) for each two of n `materials`, the first ones of an `array` with room for more.

    The array has a power of two of rows and columns.
    """

    def __init__(self):
        self.materials, self.array = (), np.zeros((0, 0, 0))

    def extend(self, materials, rows):
        """Append materials, with rows (new, all, width) of the new ones with all."""
        known, n = len(self.materials), len(materials)
        if n > len(self.array):
            size = 1 << (n - 1).bit_length()
            array = np.zeros((size, size, rows.shape[-1]))
            if known:
                array[:known, :known] = self.array[:known, :known]
            self.array = array
        self.array[known:n, :n] = rows
        self.array[:known, known:n] = rows[:, :known].swapaxes(0, 1)
        self.materials = materials


def _refuse_many(n):
    if n > MOST_MATERIALS:
        raise ValueError(f"material: a simulation has at most {MOST_MATERIALS} materials, because each two have "
                         "coefficients; give the same Material to several clumps")


class PairTable:
    """Materials and pairs. Materials are only ever appended, so that an index stays valid.

    material : the simulation's, of index 0, and of walls without one
    pairs : materials that do not occur may be among them; ValueError for two pairs of the same two materials

    `materials` are the different materials, `wall_index` (n_walls,) int32 the indices of the materials of the walls.
    """

    def __init__(self, material, walls=(), pairs=()):
        self.materials = tuple(dict.fromkeys([material, *(wall.material or material for wall in walls)]))
        _refuse_many(len(self.materials))
        self._index = {known: k for k, known in enumerate(self.materials)}
        self.wall_index = self._indices_of(walls)
        self.pairs, self._others = tuple(pairs), {}     # of each material, the others with a pair
        for k, pair in enumerate(self.pairs):
            if pair.b in self._others.setdefault(pair.a, {}):
                raise ValueError(f"pairs[{k}] = {short_repr(pair)}: there is another pair of these two materials; give "
                                 "one of them")
            self._others[pair.a][pair.b] = self._others.setdefault(pair.b, {})[pair.a] = pair
        self._own = {name: np.array([getattr(m, name) for m in self.materials])
                     for name in (*ELASTIC.values(), *PAIR_PROPERTIES)}
        self._coefficients, self._checked = GrowingTable(), set()

    def with_material(self, material):
        """The table with a material appended; this one if it has it."""
        if material in self._index:
            return self
        _refuse_many(len(self.materials) + 1)
        table = copy(self)
        vars(table).update(materials=(*self.materials, material), _index=self._index | {material: len(self.materials)},
                           _own={name: np.append(own, getattr(material, name)) for name, own in self._own.items()})
        return table

    def with_material_replaced(self, old, new):
        """The table with `new` in the place of `old`, in its pairs, too."""
        pairs = [replace(pair, **{side: new for side in "ab" if getattr(pair, side) == old}) for pair in self.pairs]
        return self._made_anew([new if one == old else one for one in self.materials], pairs)

    def with_pair(self, pair):
        """The table with a pair, instead of one of the same materials."""
        others = [one for one in self.pairs if {one.a, one.b} != {pair.a, pair.b}]
        return self._made_anew(self.materials, [*others, pair])

    def _made_anew(self, materials, pairs):
        table = PairTable(materials[0], (), pairs)
        for one in materials[1:]:
            table = table.with_material(one)
        table.wall_index = self.wall_index
        return table

    def with_walls(self, walls):
        """The table of these walls instead, with their materials appended."""
        table = copy(self)
        for wall in walls:
            table = table.with_material(wall.material or self.materials[0])
        vars(table).update(wall_index=table._indices_of(walls), _checked=set())
        return table

    def _indices_of(self, walls):
        return np.array([self._index[wall.material or self.materials[0]] for wall in walls], dtype=np.int32)

    def index(self, material):
        """Index of a material in `materials`; KeyError for another one."""
        return self._index[material]

    def properties(self, names, first=0):
        """Properties of contacts of the materials from index `first` on with all.

        names : of PROPERTIES; 'modulus' is E* [Pa], 'shear_modulus' G* [Pa].
        Returns arrays (n - first, n) by name. NaN where a pair, or this property of it, is not given: `require_pairs`
        refuses those that can meet.
        """
        tables = {}
        for name in names:
            own = self._own[ELASTIC.get(name, name)]
            if name in ELASTIC:
                tables[name] = 1.0 / (own[first:, None] + own)
                continue
            tables[name] = table = np.full((len(own) - first, len(own)), np.nan)
            np.fill_diagonal(table[:, first:], own[first:])
            for row, material in enumerate(self.materials[first:]):
                for other, pair in self._others.get(material, {}).items():
                    if other in self._index:
                        table[row, self._index[other]] = getattr(pair, name)
        return tables

    @property
    def exclusions(self):
        """(n, n) bool, which two materials have a pair without contact; None: no two."""
        if all(pair.interacts for pair in self.pairs):
            return None
        return np.array([[a in self._others.get(b, ()) and not self._others[b][a].interacts for a in self.materials]
                         for b in self.materials])

    def coefficients(self, law, values):
        """Coefficients (size, size, width) of a contact law, first for `materials`.

        law, values : always the same. Tables with further materials share the array, in which only their coefficients
        are computed.
        """
        table, n = self._coefficients, len(self.materials)
        if table.materials[:n] != self.materials[:len(table.materials)]:        # of a PairTable that was given up
            table = self._coefficients = GrowingTable()
        if len(table.materials) < n:
            new = self.properties(PROPERTIES, len(table.materials))
            table.extend(self.materials, np.stack(law.coefficient_rows(new, values), axis=-1))
        return table.array

    def force_scale(self, law, values, radius, material):
        """`ContactLaw.force_scale` of a material (index) with itself [N]."""
        own = {name: self._own[ELASTIC.get(name, name)][material].reshape(1, 1) for name in PROPERTIES}
        pair = {name: 1.0 / (one + one) if name in ELASTIC else one for name, one in own.items()}
        return law.force_scale(pair, values, radius)

    def require_pairs(self, law, values, material_index):
        """ValueError for two different materials that can meet without what the law reads of their pair.

        material_index : (n_clumps,) int32; without any, clumps to come are assumed to be of the simulation's material.
        """
        read = law.pair_properties(values)
        if not read:
            return
        clumps = np.flatnonzero(np.bincount(material_index)).tolist() or [0]
        for k in (k for k in clumps if k not in self._checked):
            a = self.materials[k]
            for other in sorted({*clumps, *self.wall_index.tolist()} - {k}):
                b = self.materials[other]
                if b not in self._others.get(a, ()):
                    raise ValueError(f"pairs: {label_of(a)} and {label_of(b)} can meet, and contact law "
                                     f"{law.name!r} reads {', '.join(read)} of their pair; add md.Pair(a, b, ...) of "
                                     "these two materials")
                pair = self._others[a][b]
                if missing := [name for name in read if pair.interacts and getattr(pair, name) is None]:
                    values = ", ".join(f"{name} {getattr(pair.a, name):g} and {getattr(pair.b, name):g}"
                                       for name in missing)
                    raise ValueError(f"pairs: {label_of(pair)} gives no {', '.join(missing)}, which contact law "
                                     f"{law.name!r} reads, and they differ: {values}. There is no mixing rule: "
                                     f"give md.Pair(a, b, {', '.join(f'{name}=...' for name in missing)})")
        self._checked = set(clumps)
