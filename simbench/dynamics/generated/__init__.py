"""Explicit models that ship, as plain NumPy code."""
