"""How wrong a result is, and proof that it is the result: error bars, certificates."""
from minidem.accuracy.certificate import Certificate, Verdict, divide_link, verify_certificate
from minidem.accuracy.error_bars import ErrorBar, error_bar
from minidem.accuracy.verify import Suggestion, Verification, suggest_step, verify

__all__ = ["Certificate", "ErrorBar", "Suggestion", "Verdict", "Verification", "divide_link", "error_bar",
           "suggest_step", "verify", "verify_certificate"]
