"""The command line: python -m minidem COMMAND, or minidem COMMAND where the package is installed.

    scenarios               list the scenarios
    run NAME [options]      run a scenario; --help after NAME lists its options
    movie FOLDER [options]  make a movie of the frames of a run; --help lists the options
    bench SCHEME [options]  measure a rotation scheme, also a file with one of yours, beside all others; --help
    study FILE:FUNCTION ... run a function over a grid of parameters; --help
    verify FILE [options]   run the links of a certificate again (md.Certificate); --help
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
from minidem.core.progress import pipe_may_close, say
from minidem.render import movie

DONE, FAILED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130


def list_scenarios(_):
    files = scenario_scripts()
    texts = {name: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for name, path in files.items()}
    say("\n".join(f"{name:{max(map(len, files))}}  {text.splitlines()[0]}" for name, text in texts.items()))
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


def run_selftest(_):
    passed = False
    with pipe_may_close():
        passed = selftest.run()
    return DONE if passed else FAILED


def print_version(_):
    say("\n".join(f"{key:10}  {' '.join(value) if isinstance(value, list) else value}"
                  for key, value in minidem.build_info().items()))
    return DONE


def bench(words):
    from minidem.scenarios.rotating_bodies.scheme_bench import BENCH
    return BENCH.main(words)


def study(words):
    from minidem.ensemble import command
    return command.main(words)


def verify(words):
    from minidem.accuracy import certificate
    return certificate.main(words)


COMMANDS = {"scenarios": list_scenarios, "run": scenario_script, "movie": movie.main, "bench": bench,
            "study": study, "verify": verify, "selftest": run_selftest, "version": print_version}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, by default sys.argv.

    Returns
    -------
    int
        Exit status: 0 done, 1 failed, 2 bad arguments; `run` returns the status of the scenario.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help", "help"):
        say(__doc__.strip())
        return DONE
    try:
        command, *others = words
        if command not in COMMANDS:
            raise ValueError(f"there is no command {command!r}; known are {', '.join(COMMANDS)}"
                             + did_you_mean(command, COMMANDS))
        if others and command not in ("run", "movie", "bench", "study", "verify"):
            raise ValueError(f"{command}: {others[0]!r} is unknown; this command has no options")
        result = COMMANDS[command](others)
    except ValueError as error:
        print(f"minidem: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except (OSError, ImportError, RuntimeError) as error:
        print(f"minidem: failed: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("minidem: interrupted", file=sys.stderr)
        return INTERRUPTED
    if command != "run":
        return result
    sys.argv = [str(result), *others[1:]]
    sys.path.insert(0, str(result.parent))              # scenarios import each other
    runpy.run_path(str(result), run_name="__main__")    # as Python does, so that processes can import its functions
    return DONE


if __name__ == "__main__":
    sys.exit(main())
