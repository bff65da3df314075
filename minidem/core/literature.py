"""References to the literature, as text and as BibTeX; and the works that more than one module cites."""
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reference:
    """One bibliography entry; unknown fields are empty.

    Attributes
    ----------
    key : str
        BibTeX key: letters, digits and underscores.
    kind : str
        BibTeX type, such as "article".
    authors : tuple of str
        "Family, Given" each; a name without comma is that of an organisation.
    title, year, doi : str
    where : dict
        Further BibTeX fields, such as journal and pages, in the order of the text.
    """

    key: str
    kind: str
    authors: tuple[str, ...]
    title: str
    year: str
    doi: str = ""
    where: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The entry in one line."""
        names = [" ".join(reversed(name.split(", "))) for name in self.authors]
        who = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        where = {name: text for name, text in self.where.items() if name != "url"}
        if "volume" in where and "number" in where:
            where["volume"] += f"({where.pop('number')})"
        doi = f"doi:{self.doi}" if self.doi else ""
        return ", ".join(filter(None, [who, self.title, *where.values(), self.year, doi])).replace("--", "-")

    @property
    def bibtex(self) -> str:
        """The entry in BibTeX, in UTF-8."""
        authors = " and ".join(name if "," in name else f"{{{name}}}" for name in self.authors)
        fields = {"author": authors, "title": f"{{{self.title}}}", **self.where, "year": self.year,
                  "doi": self.doi}
        lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
        return f"@{self.kind}{{{self.key},\n{''.join(lines)}}}\n"


def article(key: str, authors: tuple[str, ...], title: str, journal: str, volume: str, pages: str, year: str,
            doi: str = "", number: str = "") -> Reference:
    """The reference of a journal article."""
    where = {"journal": journal, "volume": volume, "number": number, "pages": pages}
    return Reference(key, "article", authors, title, year, doi, {name: text for name, text in where.items() if text})


SPIRAL = article(
    "delvalle2024spiral", ("del Valle, Carlos Andrés", "Angelidakis, Vasileios", "Roy, Sudeshna",
                           "Muñoz, José Daniel", "Pöschel, Thorsten"),
    "SPIRAL: An efficient algorithm for the integration of the equation of rotational motion",
    "Computer Physics Communications", "297", "109077", "2024", "10.1016/j.cpc.2023.109077")
PCDM = article(
    "zhao2013novel", ("Zhao, F.", "van Wachem, B. G. M."),
    "A novel quaternion integration approach for describing the behaviour of non-spherical particles",
    "Acta Mechanica", "224", "3091--3109", "2013", "10.1007/s00707-013-0914-2", "12")
SHU_OSHER = article(
    "shu1988efficient", ("Shu, C. W.", "Osher, S."),
    "Efficient implementation of essentially non-oscillatory shock-capturing schemes",
    "Journal of Computational Physics", "77", "439--471", "1988", "10.1016/0021-9991(88)90177-5")
KUTTA = article(
    "kutta1901beitrag", ("Kutta, W.",),
    "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen",
    "Zeitschrift für Mathematik und Physik", "46", "435--453", "1901")
