#!/usr/bin/env python3
"""Classes of schemes and laws for editors and mypy: minidem/rotation/choices.pyi and minidem/contact/choices.pyi.

    python tools/stubs.py           # after a change of a scheme or law; a test compares the files with the registries
"""
import argparse
import inspect
import textwrap
from pathlib import Path
from typing import get_args

from minidem.contact import registry as contact
from minidem.core.atomic import replace_text
from minidem.rotation import registry as rotation

HEAD = '''"""Written by tools/stubs.py: the classes that `__getattr__` of the package makes."""
from typing import Literal, Self

from minidem.core.choices import Choice

__all__ = [
'''


def type_text(annotation):
    """As in source; of a union, its members, since versions of Python write it in several ways."""
    members = get_args(annotation) if "Union" in str(type(annotation)) else [annotation]
    return " | ".join(inspect.formatannotation(one).replace("'", '"') for one in members)


def class_text(choice):
    """Source of a class."""
    options = [f"{one.name}: {type_text(one.annotation)}" + (
        "" if one.default is one.empty else " = " + repr(one.default).replace("'", '"'))
        for one in inspect.signature(choice).parameters.values()]
    arguments = f",\n{16 * ' '}".join(["cls, *" if options else "cls", *options])
    documentation = textwrap.indent(f'"""{choice.__doc__}\n"""', "    ", lambda line: line.strip())
    return f"\nclass {choice.__name__}(Choice):\n{documentation}\n    def __new__({arguments}) -> Self: ...\n"


def stub(registry):
    """Text of the file of the built-in schemes or laws."""
    classes = [registry.info(name).choice for name in registry.available() if name not in registry.own_names()]
    names = textwrap.fill(", ".join(f'"{one.__name__}"' for one in classes), 119, initial_indent="    ",
                          subsequent_indent="    ")
    return f"{HEAD}{names},\n]\n" + "".join(map(class_text, classes))


def path(registry):
    return Path(registry.__file__).with_name("choices.pyi")


def main(argv=None):
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(argv)
    for one in (contact, rotation):
        replace_text(path(one), stub(one))


if __name__ == "__main__":
    main()
