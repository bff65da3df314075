"""Code of users that is imported by its name: functions of studies, and files that register schemes and laws."""
import importlib
import importlib.util
import sys
from pathlib import Path

from minidem import rotation

loading: list = []      # what is being imported


class NotRegistered(ValueError):
    """A scheme or law that another process would not have."""


def absolute(where):
    """The name of a module, or the absolute path of a script, which other processes find."""
    return str(Path(where).absolute()) if str(where).endswith((".py", ".pyx")) else str(where)


def import_own(where, argument):
    """Import a module by its name, or a script by its path; ValueError if it fails, with the `argument` that names it.

    A script can import from its folder, as when it is run. The rotation schemes of a .pyx file are registered.
    """
    loading.append(where)
    try:
        if where.endswith(".pyx"):
            return [rotation.register(scheme) for scheme in rotation.compile(where)]
        if not where.endswith(".py"):
            return importlib.import_module(where)
        sys.path.insert(0, str(Path(where).absolute().parent))
        spec = importlib.util.spec_from_file_location(f"_ensemble_{Path(where).stem}", where)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except (Exception, SystemExit) as error:            # any, raised by the code of the module
        raise ValueError(f"{argument}: cannot be imported ({type(error).__name__}: {error})") from error
    finally:
        loading.pop()


def add_import_option(parser):
    """Add --import to an argparse parser, whose options have `imports` then; see `import_given`."""
    parser.add_argument("--import", action="append", default=[], dest="imports", metavar="FILE",
                        help="Python file, or name of a module, that registers schemes or laws of your own, or .pyx "
                             "file with SCHEMES; again for another one")


def import_given(words, parser):
    """Import the files of --import in the words of a command line, since other options may name what they register.

    words : list of str, or None for sys.argv;  parser : an empty one, of the class that reads the command line
    """
    add_import_option(parser)
    for name in parser.parse_known_args(words)[0].imports:
        import_own(name, f"--import {name}")
