"""The running Python in commands that messages show."""
import shlex
import shutil
import sys
from pathlib import Path


def this_python():
    """How a shell in the working directory starts this Python: `python`, or a path, which an inactive venv needs."""
    for name in ("python", "python3"):
        if shutil.which(name) == sys.executable:
            return name
    path, here = Path(sys.executable), Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))
