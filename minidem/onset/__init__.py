"""Onset corrections: small forces on contacts that begin or end within a step (ONSET.md)."""
