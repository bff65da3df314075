"""Rotation schemes and contact laws as objects: classes whose signatures and docstrings come from the descriptions.

An object is text: ``md.contact.Hooke(stiffness=1e6)`` is "hooke:stiffness=1000000.0".
"""
import keyword
import re
import textwrap
from inspect import Parameter, Signature
from typing import Any, ClassVar, Literal

from minidem.core.parameters import allowed, default_of, named_values, words_and_kind


class Choice(str):
    """The text of a rotation scheme or contact law, with the parameters that differ from their defaults, in one order.

    Copies and pickles are plain text, because other processes may not know the class of a user-defined law.
    """

    _description: ClassVar[Any]

    def __new__(cls, /, **given):
        description = cls._description
        values = description.values({name: str(value) for name, value in given.items()})
        chosen = ",".join(f"{name}={value}" for name, value in named_values(description.parameters, values).items()
                          if value != default_of(description.parameters[name]))
        return super().__new__(cls, f"{description.name}:{chosen}" if chosen else description.name)

    def __reduce__(self):
        return str, (str(self),)


def choice_class(description: Any) -> type[Choice]:
    """The class of a description; "no-squish" is NoSquish."""
    name = "".join(piece[:1].upper() + piece[1:] for piece in re.split(r"[\W_]", description.name))
    signature = Signature([signature_part(*item) for item in description.parameters.items()
                           if item[0].isidentifier() and not keyword.iskeyword(item[0])])
    return type(name, (Choice,), {"_description": description, "__module__": f"minidem.{description.kind}",
                                  "__doc__": documentation(description), "__signature__": signature})


def signature_part(name, one):
    """A parameter whose type is Literal of its words, float, int, or a union."""
    words, kind = words_and_kind(one)
    number = int if kind and issubclass(kind, int) else float
    return Parameter(name, Parameter.KEYWORD_ONLY,
                     default=Parameter.empty if default_of(one) is None else default_of(one),
                     annotation=number if not words else Literal[*words] if kind is None else Literal[*words] | number)


def documentation(description):
    """The docstring of a class."""
    lines = [f'{description.title}; as text {description.kind}="{description.name}".']
    lines += ["", "Parameters", "----------"] if description.parameters else []
    for name, one in description.parameters.items():
        lines.append(f"{name} : {allowed(one)}{'' if default_of(one) is None else f'; default {default_of(one)}'}")
        lines += [f"    {line}" for line in textwrap.wrap(str(description.meanings.get(name, "")), 96)]
    sources = {"Equations": description.equations, "DOI": description.doi,
               "Formulas": f'``print(md.{description.kind}.info("{description.name}").doc)``'}
    notes = [f"{what}: {text}" for what, text in sources.items() if text]
    return "\n".join([*lines, "", "Notes", "-----", ";\n".join(notes) + "."])
