"""A marker map for a recording that no ready map fits, guessed from its names and its geometry."""

from simbench.errors import MotionError
from simbench.motion.marker_maps.library import describe_missing_names
from simbench.motion.marker_maps.marker_guess import guess_marker_map
from simbench.motion.marker_maps.reading import GuessedMap
from simbench.motion.marker_maps.skeleton_guess import recognise_skeleton
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

# How the names of guessed maps begin.
GUESSED = "guessed"


def guess_map(recording: MarkerRecording | SkeletonRecording) -> GuessedMap:
    """Guess the marker map of a recording. Returns the map, how it was guessed, and what may be wrong."""
    if isinstance(recording, SkeletonRecording):
        guess = recognise_skeleton(recording)
        return GuessedMap(f"{GUESSED} ({guess.dialect})", guess.marker_map, guess.notes, guess.doubts)
    markers = guess_marker_map(recording)
    if markers is None:
        raise MotionError(
            f"{recording.source}: {describe_missing_names(recording.names, None, skeleton=False)}"
        )
    doubt = "the marker set is not known: its map was guessed from words in the names"
    return GuessedMap(f"{GUESSED} (markers)", markers.marker_map, markers.notes, (doubt,))
