"""The command line: python -m minidem COMMAND, or minidem COMMAND where the package is installed.

    scenarios               list the scenarios
    run NAME [options]      run a scenario; --help after NAME lists its options
    movie FOLDER [options]  make a movie of the frames of a run; --help lists the options
    selftest                check this installation, a few seconds; exit status 1 if a check fails
    version                 version, instruction set, OpenMP and compiler
"""
import ast
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

import minidem
from minidem import selftest
from minidem.core.checks import did_you_mean
from minidem.core.interpreter import scenario_scripts, this_python
from minidem.core.progress import pipe_may_close
from minidem.render import movie

DONE, FAILED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130


def list_scenarios(words):
    no_options("scenarios", words)
    files = scenario_scripts()
    with pipe_may_close():
        for name, path in files.items():
            title = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).partition("\n")[0]
            print(f"{name:{max(map(len, files))}}  {title}")
    return DONE


def scenario_script(words):
    """The script of `run NAME ...`."""
    if not words or words[0].startswith("-"):
        raise ValueError("run: give the name of a scenario; `minidem scenarios` lists them")
    files = scenario_scripts()
    if words[0].endswith(".py") or Path(words[0]).is_file() and words[0] not in files:
        raise ValueError(f"run: {words[0]!r} is a script, not the name of a scenario; run it with {this_python()} "
                         f"{words[0]}{did_you_mean(Path(words[0]).stem, files)}")
    if words[0] not in files:
        raise ValueError(f"run: there is no scenario {words[0]!r}; known are {', '.join(files)}"
                         + did_you_mean(words[0], files))
    return files[words[0]]


def run_script(path, words):
    """Run a script as Python does, in the module __main__, so that other processes can import its functions."""
    sys.argv = [str(path), *words]
    sys.path.insert(0, str(path.parent))        # scenarios import each other
    runpy.run_path(str(path), run_name="__main__")
    return DONE


def run_selftest(words):
    no_options("selftest", words)
    passed = False
    with pipe_may_close():
        passed = selftest.run()
    return DONE if passed else FAILED


def print_version(words):
    no_options("version", words)
    with pipe_may_close():
        for key, value in minidem.build_info().items():
            print(f"{key:10}  {' '.join(value) if isinstance(value, list) else value}")
    return DONE


def no_options(command, words):
    if words:
        raise ValueError(f"{command}: {words[0]!r} is unknown; this command has no options")


COMMANDS = {"scenarios": list_scenarios, "run": scenario_script, "movie": movie.main, "selftest": run_selftest,
            "version": print_version}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, by default sys.argv.

    Returns
    -------
    int
        Exit status: 0 done, 1 failed, 2 bad arguments; of `run` that of the scenario.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help", "help"):
        with pipe_may_close():
            print(__doc__.strip())
        return DONE
    try:
        if words[0] not in COMMANDS:
            raise ValueError(f"there is no command {words[0]!r}; known are {', '.join(COMMANDS)}"
                             + did_you_mean(words[0], COMMANDS))
        result = COMMANDS[words[0]](words[1:])
    except ValueError as error:
        print(f"minidem: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except (OSError, ImportError, RuntimeError) as error:
        print(f"minidem: failed: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("minidem: interrupted", file=sys.stderr)
        return INTERRUPTED
    return run_script(result, words[2:]) if words[0] == "run" else result


if __name__ == "__main__":
    sys.exit(main())
