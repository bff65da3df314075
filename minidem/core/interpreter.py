"""Commands that messages and help show: the running Python, scenarios."""
import re
import shlex
import shutil
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def scenario_folder():
    """The folder of the scenarios: beside the package in a source tree, in it in an installed wheel; None without."""
    return next((folder for folder in (PACKAGE / "scenarios", PACKAGE.parent / "scenarios") if folder.is_dir()), None)


def scenario_scripts():
    """name -> path of the scripts of the scenarios, also in subfolders, by name; their modules are left out."""
    folder = scenario_folder()
    if folder is None:
        raise ValueError(f"there is no folder scenarios in {PACKAGE} or beside it; install minidem again")
    scripts = (path for path in folder.rglob("*.py") if "\nif __name__ == " in path.read_text(encoding="utf-8"))
    return {path.stem: path for path in sorted(scripts, key=lambda path: path.stem)}


def scenario_command(name):
    """How a scenario is run, in a source tree or in an installed wheel; `name` itself for a script of a user's own."""
    folder = scenario_folder()
    path = folder and next(folder.rglob(f"{name}.py"), None)
    if not path:
        return name
    return f"minidem run {name}" if folder.parent == PACKAGE else f"python {path.relative_to(folder.parent)}"


def with_scenario_commands(text):
    """A description whose examples suit a source tree, with commands that work in this installation."""
    return re.sub(r"python scenarios/(?:\w+/)*(\w+)\.py", lambda found: scenario_command(found[1]), text)


def this_python():
    """How a shell in the working directory starts this Python: `python`, or a path, which an inactive venv needs."""
    for name in ("python", "python3"):
        if shutil.which(name) == sys.executable:
            return name
    path, here = Path(sys.executable), Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))
