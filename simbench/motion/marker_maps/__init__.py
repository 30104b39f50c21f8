"""Marker maps: from points or skeletons to a person."""

from simbench.motion.marker_maps.convert import to_human_motion

__all__ = ["to_human_motion"]
