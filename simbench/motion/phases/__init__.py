"""Phases of a recorded task, its primitives, and their resampling to a common phase."""

from simbench.motion.phases.normalisation import normalise_frames, normalise_time
from simbench.motion.phases.segmentation import Phases, find_phases

__all__ = ["Phases", "find_phases", "normalise_frames", "normalise_time"]
