"""What to cite for a run: the references of what the simulation really uses, as text and as BibTeX.

The rotation scheme's record says where its formula is printed (DOI, and DOIs among its equations).
ORIGINALS adds the sources behind a formula that is printed elsewhere. A scheme of the user's own is
cited by the DOI of its record alone.
"""
import math
import re
from dataclasses import dataclass, field

import numpy as np

import minidem
from minidem.rotation import registry
from minidem.simulation import Simulation


@dataclass(frozen=True)
class Reference:
    """One entry; what is not known is empty.

    authors : "Family, Given" each; a name without comma is that of a body.
    where : what stands in the entry beside author, title, year and DOI, as BibTeX fields, in the order of
        the text.
    """

    key: str
    kind: str
    authors: tuple
    title: str
    year: str
    doi: str = ""
    where: dict = field(default_factory=dict)

    @property
    def text(self):
        """One line."""
        names = [" ".join(reversed(name.split(", "))) for name in self.authors]
        who = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        where = dict(self.where)
        if "volume" in where and "number" in where:
            where["volume"] += f"({where.pop('number')})"
        doi = f"doi:{self.doi}" if self.doi else ""
        return ", ".join(filter(None, [who, self.title, *where.values(), self.year, doi])).replace("--", "-")

    @property
    def bibtex(self):
        """The entry, in UTF-8."""
        authors = " and ".join(name if "," in name else f"{{{name}}}" for name in self.authors)
        fields = {"author": authors, "title": f"{{{self.title}}}", **self.where, "year": self.year,
                  "doi": self.doi}
        lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
        return f"@{self.kind}{{{self.key},\n{''.join(lines)}}}\n"


def _article(key, authors, title, journal, volume, pages, year, doi="", number=None):
    where = {"journal": journal, "volume": volume, **({"number": number} if number else {}), "pages": pages}
    return Reference(key, "article", authors, title, year, doi, where)


SPIRAL = _article(
    "delvalle2024spiral", ("del Valle, Carlos Andrés", "Angelidakis, Vasileios", "Roy, Sudeshna",
                           "Muñoz, José Daniel", "Pöschel, Thorsten"),
    "SPIRAL: An efficient algorithm for the integration of the equation of rotational motion",
    "Computer Physics Communications", "297", "109077", "2024", "10.1016/j.cpc.2023.109077")
PCDM = _article(
    "zhao2013novel", ("Zhao, F.", "van Wachem, B. G. M."),
    "A novel quaternion integration approach for describing the behaviour of non-spherical particles",
    "Acta Mechanica", "224", "3091--3109", "2013", "10.1007/s00707-013-0914-2", "12")
IMPROVED_PCDM = _article(
    "seelen2016improved", ("Seelen, L. J. H.", "Padding, J. T.", "Kuipers, J. A. M."),
    "Improved quaternion-based integration scheme for rigid body motion",
    "Acta Mechanica", "227", "3381--3389", "2016", "10.1007/s00707-016-1670-x")
BUSS = _article(
    "buss2000accurate", ("Buss, Samuel R.",), "Accurate and efficient simulation of rigid-body rotations",
    "Journal of Computational Physics", "164", "377--406", "2000", "10.1006/jcph.2000.6602", "2")
FINCHAM = _article(
    "fincham1992leapfrog", ("Fincham, David",), "Leapfrog rotational algorithms",
    "Molecular Simulation", "8", "165--178", "1992", "10.1080/08927029208022474", "3--5")
OMELYAN = _article(
    "omelyan1998algorithm", ("Omelyan, Igor P.",),
    "Algorithm for numerical integration of the rigid-body equations of motion",
    "Physical Review E", "58", "1169--1172", "1998", "10.1103/PhysRevE.58.1169", "1")
JOHNSON = _article(
    "johnson2008quaternion", ("Johnson, Scott M.", "Williams, John R.", "Cook, Benjamin K."),
    "Quaternion-based rigid body rotation integration algorithms for use in particle methods",
    "International Journal for Numerical Methods in Engineering", "74", "1303--1313", "2008",
    "10.1002/nme.2210", "8")
SHU_OSHER = _article(
    "shu1988efficient", ("Shu, C. W.", "Osher, S."),
    "Efficient implementation of essentially non-oscillatory shock-capturing schemes",
    "Journal of Computational Physics", "77", "439--471", "1988", "10.1016/0021-9991(88)90177-5")
VERLET = _article(
    "verlet1967computer", ("Verlet, L.",),
    "Computer ``experiments'' on classical fluids. I. Thermodynamical properties of Lennard-Jones molecules",
    "Physical Review", "159", "98--103", "1967", "10.1103/PhysRev.159.98")
KUTTA = _article(
    "kutta1901beitrag", ("Kutta, W.",),
    "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen",
    "Zeitschrift für Mathematik und Physik", "46", "435--453", "1901")
OSTANIN = _article(
    "ostanin2024rigid", ("Ostanin, Igor", "Angelidakis, Vasileios", "Plath, Timo", "Pourandi, Sahar",
                         "Thornton, Anthony", "Weinhart, Thomas"),
    "Rigid clumps in the MercuryDPM particle dynamics code",
    "Computer Physics Communications", "296", "109034", "2024", "10.1016/j.cpc.2023.109034")
HERTZ = _article(
    "hertz1882beruehrung", ("Hertz, H.",), "Ueber die Berührung fester elastischer Körper",
    "Journal für die reine und angewandte Mathematik", "92", "156--171", "1882", "10.1515/crll.1882.92.156")
KLEPPMANN = Reference(
    "kleppmann2007simulation", "techreport", ("Kleppmann, M.",),
    "Simulation of colliding constrained rigid bodies", "2007",
    where={"number": "UCAM-CL-TR-683", "institution": "University of Cambridge"})
LEAPFROG = Reference(
    "hockney1988computer", "book", ("Hockney, R.", "Eastwood, J."),
    "Computer simulation using particles", "1988",
    "10.1201/9780367806934", {"publisher": "CRC Press"})

PRINTED = {reference.doi: reference for reference in (
    SPIRAL, PCDM, IMPROVED_PCDM, BUSS, FINCHAM, OMELYAN, JOHNSON)}
# The sources of a scheme that its record, which says where the formula is printed, does not name.
ORIGINALS = {
    "buss-published": (BUSS,), "fincham-published": (FINCHAM,), "johnson-published": (JOHNSON,),
    "spiral-omelyan": (OMELYAN,), "spiral": (SHU_OSHER,), "spiral:inner=rk4": (KUTTA,),
    "spiral-sync": (SHU_OSHER,), "velocity-verlet": (VERLET,), "rk4": (KUTTA,), "pfc4": (OSTANIN,),
    "scalar-factor": (KLEPPMANN,),
}


@dataclass(frozen=True)
class Citation:
    """What a run used, as pairs (what, its references), with numbered `text` and `bibtex`. str: both."""

    uses: tuple

    @property
    def references(self):
        """All references, each once, in the order of use."""
        return tuple({reference.key: reference for _, group in self.uses for reference in group}.values())

    @property
    def text(self):
        number = {reference.key: k for k, reference in enumerate(self.references, 1)}
        lines = []
        for what, group in self.uses:
            numbers = ", ".join(str(number[reference.key]) for reference in group)
            lines.append(f"{what} [{numbers}]." if numbers else f"{what}.")
        return "\n".join([*lines, "", *(f"[{number[r.key]}] {r.text}" for r in self.references)]) + "\n"

    @property
    def bibtex(self):
        return "\n".join(reference.bibtex for reference in self.references)

    def __str__(self):
        return f"{self.text}\n{self.bibtex}"


def cite(simulation):
    """What to cite for a simulation as it stands: a `Citation`; print it, or take .text or .bibtex.

    Names only what is used: Hertz's law where anything could touch, the union of spheres where the
    spheres of a clump overlap. ValueError for anything but a Simulation.
    """
    if not isinstance(simulation, Simulation):
        raise ValueError(f"simulation = {simulation!r}: give a minidem.Simulation")
    own = (_minidem(),)
    uses = [(f"Simulated with minidem {minidem.__version__}", own), _rotation(simulation.rotation),
            ("Translation: leapfrog", (LEAPFROG,))]
    if simulation.walls or simulation.n_clumps > 1:
        uses.append(("Contacts: Hertz's law", (HERTZ,)))
    if any(_overlaps(template) for template in simulation.templates):
        uses.append(("Mass and inertia of overlapping spheres: exact integrals over their union", own))
    return Citation(tuple(uses))


def _minidem():
    return Reference("minidem", "software", ("The minidem developers",), "minidem", "2026",
                     where={"version": minidem.__version__, "note": "MIT licence"})


def _rotation(specification):
    record = registry.info(specification)
    base, _, parameters = specification.partition(":")
    dois = [record.doi, *re.findall(r"10\.\d{4,}/[^\s,;]+", record.equations)]
    references = [PRINTED.get(doi) or _unknown(record, doi) for doi in dict.fromkeys(filter(None, dois))]
    references += ORIGINALS.get(specification, ORIGINALS.get(base, ()))
    what = f"Rotation: {record.title} (scheme {base}"
    what += f" with {parameters}" if parameters else ""
    what += f"; Eqs {record.equations}" if record.equations else ""
    return what + ")", tuple(references)


def _unknown(record, doi):
    """A reference of which only the DOI is known."""
    return Reference(re.sub(r"\W", "_", doi), "misc", (), record.title, "", doi)


def _overlaps(template):
    """Whether the union has less volume than the spheres, beyond the stated error of the union's."""
    spheres = 4.0 / 3.0 * math.pi * np.sum(template.radii**3)
    return template.volume < (1.0 - template.relative_error) * spheres
