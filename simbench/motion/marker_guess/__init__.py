"""A marker map for a marker set that nobody described, guessed from names and checked by geometry."""

from simbench.motion.marker_guess.guess import GuessedMap, guess_marker_map

__all__ = ["GuessedMap", "guess_marker_map"]
