"""Marker maps: from recorded markers or skeletons to the joints and segments of a person."""

from simbench.motion.marker_maps.conversion import to_human_motion

__all__ = ["to_human_motion"]
