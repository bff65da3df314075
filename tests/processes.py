"""Commands that run in processes of their own."""
import subprocess
import sys


def run(*words, fails=False, timeout=900, **how):
    """Run a command to its end and return the process with its output. It must succeed, or fail where it should."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, **how)
    assert (done.returncode != 0) == fails, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def python(*words, **how):
    return run(sys.executable, *words, **how)
