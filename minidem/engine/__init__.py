"""The time loop: translation, rotation, contacts, threads."""
