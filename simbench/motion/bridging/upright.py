"""The vertical axis of a recording of the upper body, by its trunk."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from simbench.motion.marker_maps.evaluation import RecordedBody
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.motion.read_options import AXES, ReadOptions
from simbench.motion.recordings import MarkerRecording

# A trunk is upright along an axis when it is within 37 degrees of it (cosine) in this fraction of the frames.
ALIGNED_COSINE, MAJORITY = 0.8, 0.9
# Frames that are looked at.
MOST_FRAMES = 500


def turn_upright(
    recording: MarkerRecording, marker_map: MarkerMap, spelled: Mapping[str, str], options: ReadOptions
) -> MarkerRecording:
    """Correct the vertical axis of a recording without a pelvis, whose trunk stands along another axis.

    With a pelvis, the line from it to the shoulders decides when the person is placed in the world.
    `recording`: tracks without gaps; `spelled`: names in the recording of the map's points that have another
    name there; `options`: what the user declares; a declared vertical axis stays. Returns the recording with
    the axis along which the trunk stands, and a doubt if the file says another.
    """
    if options.up is not None or marker_map.in_place or len(recording.time) < 2:
        return recording
    index = {name: k for k, name in enumerate(recording.names)}
    index |= {point: index[name] for point, name in spelled.items() if name in index}
    step = max(len(recording.time) // MOST_FRAMES, 1)
    points = {name: recording.positions[::step, k] for name, k in index.items()}
    body = RecordedBody(marker_map, points, 1.0, recording.source)
    if body.point("pelvis") is not None or body.point("left_hip") is not None:
        return recording
    trunk = body.frame("trunk")
    if trunk is None:
        return recording
    shares = np.asarray((trunk[0][:, :, 2] > ALIGNED_COSINE).mean(axis=0))
    seeming = AXES[int(shares.argmax())]
    declared = marker_map.up or recording.up
    if shares.max() < MAJORITY or seeming == declared:
        return recording
    said = "no axis is declared" if declared is None else f"{declared} is the file's"
    doubt = f"vertical axis {seeming}: the trunk points along it in {shares.max():.0%} of the frames ({said})"
    return replace(recording, up=seeming, doubts=(*recording.doubts, doubt))
