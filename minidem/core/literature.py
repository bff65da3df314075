"""References to the literature, as text and as BibTeX; the package's own are in minidem/references.bib."""
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

BIBLIOGRAPHY = Path(__file__).resolve().parents[1] / "references.bib"


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
        "Family, Given" each; a name without comma belongs to an organisation.
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


@cache
def bibliography() -> dict[str, Reference]:
    """{key: reference} of references.bib, which has the form that `Reference.bibtex` writes: a field per line."""
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{(\w+),\n(.*?)^\}", BIBLIOGRAPHY.read_text("utf-8"), re.M | re.S):
        fields = {name: text.strip("{}") for name, text in re.findall(r"^  (\w+) = \{(.*)\},$", body, re.M)}
        authors, title, year = tuple(fields.pop("author").split(" and ")), fields.pop("title"), fields.pop("year")
        found[key] = Reference(key, kind, authors, title, year, fields.pop("doi", ""), fields)
    return found


def references(works: Iterable[str | Reference]) -> tuple[Reference, ...]:
    """The references of keys of references.bib; a `Reference` stands for itself. KeyError for an unknown key."""
    return tuple(work if isinstance(work, Reference) else bibliography()[work] for work in works)
