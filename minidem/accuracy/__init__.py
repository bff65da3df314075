"""How wrong a result is: error bars from runs with several steps."""
from minidem.accuracy.error_bars import ErrorBar, error_bar
from minidem.accuracy.verify import Suggestion, Verification, suggest_step, verify

__all__ = ["ErrorBar", "Suggestion", "Verification", "error_bar", "suggest_step", "verify"]
