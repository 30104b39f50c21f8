"""A marker map for a marker set that nobody described, guessed from names and checked by geometry."""

from simbench.motion.marker_maps.marker_guess.guess import MarkerGuess, guess_marker_map

__all__ = ["MarkerGuess", "guess_marker_map"]
