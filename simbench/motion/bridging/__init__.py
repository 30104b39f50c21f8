"""Makes whole what a body's joints need of a recording of markers: gaps, and joints without a marker."""

from simbench.motion.bridging.prepare import prepare_markers

__all__ = ["prepare_markers"]
