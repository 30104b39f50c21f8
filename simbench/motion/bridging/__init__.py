"""Makes whole what a recording of markers lacks and a body's joints need: gaps, and joints without a marker."""

from simbench.motion.bridging.prepare import prepare_markers

__all__ = ["prepare_markers"]
