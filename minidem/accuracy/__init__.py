"""How wrong a result is: error bars from runs with several steps."""
from minidem.accuracy.error_bars import ErrorBar, error_bar
from minidem.accuracy.verify import Verification, verify

__all__ = ["ErrorBar", "Verification", "error_bar", "verify"]
