"""Parts of contact laws with friction, one per file; words.py has them by the words of parameters."""
