"""Dossier of a failed check: what failed and when, drawn and filmed beside the baseline."""
