"""Parts of contact laws with friction, friction.pyx has them by the words of parameters."""
