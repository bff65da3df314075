"""What to cite for a run: the references of what the simulation uses, as text and as BibTeX.

The description of a rotation scheme (rotation/registry.py) holds the references of its formula.
"""
import math
import re
from dataclasses import dataclass, replace

import numpy as np

import minidem
from minidem import contact
from minidem.core.literature import Reference, bibliography, references
from minidem.rotation import registry
from minidem.simulation import Simulation


@dataclass(frozen=True)
class Citation:
    """What a run used; `str` gives text and BibTeX.

    Attributes
    ----------
    uses : tuple
        Pairs (what is used, tuple of its `Reference`).
    """

    uses: tuple[tuple[str, tuple[Reference, ...]], ...]

    @property
    def references(self) -> tuple[Reference, ...]:
        """All references, each once, in the order of use."""
        return tuple({reference.key: reference for _, group in self.uses for reference in group}.values())

    @property
    def text(self) -> str:
        """What is used, with numbers of the references, and the numbered references."""
        number = {reference.key: k for k, reference in enumerate(self.references, 1)}
        lines = []
        for what, group in self.uses:
            numbers = ", ".join(str(number[reference.key]) for reference in group)
            lines.append(f"{what} [{numbers}]." if numbers else f"{what}.")
        return "\n".join([*lines, "", *(f"[{number[r.key]}] {r.text}" for r in self.references)]) + "\n"

    @property
    def bibtex(self) -> str:
        """All references as BibTeX entries."""
        return "\n".join(reference.bibtex for reference in self.references)

    def __str__(self):
        return f"{self.text}\n{self.bibtex}"


def cite(simulation: Simulation) -> Citation:
    """What to cite for a simulation in its present state.

    The contact law is cited if clumps could touch anything, the union of spheres if the spheres of a clump overlap.

    Parameters
    ----------
    simulation : Simulation

    Returns
    -------
    Citation
        With `text` and `bibtex`; print it for both.

    Raises
    ------
    ValueError
        For anything but a Simulation.
    """
    if not isinstance(simulation, Simulation):
        raise ValueError(f"simulation = {simulation!r}: give a minidem.Simulation")
    own = (replace(bibliography()["minidem"], where={"version": minidem.__version__, "note": "MIT licence"}),)
    uses = [(f"Simulated with minidem {minidem.__version__}", own), _rotation(simulation.rotation),
            ("Translation: leapfrog", references(["hockney1988computer"]))]
    if simulation.walls or simulation.n_clumps > 1:
        law = contact.info(simulation.contact)
        uses.append((f"Contacts: {law.title} ({simulation.contact})",
                     law.cites_with.get(simulation.contact.partition(":")[2], law.cites)))
    if any(_overlaps(template) for template in simulation.templates):
        uses.append(("Mass and inertia of overlapping spheres: exact integrals over their union", own))
    return Citation(tuple(uses))


def _rotation(specification):
    """What a rotation scheme is, its references, and one for each further DOI in its record, if only with the DOI."""
    record = registry.info(specification)
    base, _, parameters = specification.partition(":")
    what = f"Rotation: {record.title} (scheme {base}"
    what += f" with {parameters}" if parameters else ""
    what += f"; Eqs {record.equations}" if record.equations else ""
    cited = record.cites_with.get(parameters, record.cites)
    known = {reference.doi: reference for reference in bibliography().values()}
    dois = dict.fromkeys([record.doi, *re.findall(r"10\.\d{4,}/[^\s,;]+", record.equations)])
    further = [doi for doi in dois if doi and doi not in {reference.doi for reference in cited}]
    return what + ")", (*cited, *(known.get(doi) or Reference(
        re.sub(r"\W", "_", doi), "misc", (), record.title, "", doi, {"url": f"https://doi.org/{doi}"})
        for doi in further))


def _overlaps(template):
    """Whether the union has less volume than the spheres, beyond the stated error of the union's."""
    spheres = 4.0 / 3.0 * math.pi * np.sum(template.radii**3)
    return template.volume < (1.0 - template.relative_error) * spheres
