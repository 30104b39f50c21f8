"""A person in closed form: joints and frames from rotations that are functions of time, with markers."""

from types import SimpleNamespace

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.motion.recordings import MarkerRecording

UPPER_ARM, FOREARM, THIGH, SHANK = 0.30, 0.26, 0.42, 0.40
# Columns x distal, y, z lateral in forward, left, up while the arm hangs, written out here once more.
HANGING = {
    "left": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
    "right": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
}
ELBOW_WIDTH, KNEE_WIDTH, ANKLE_WIDTH = 0.040, 0.055, 0.043
ASIS = np.array([0.08, 0.12, 0.0])
MIRROR = {"left": np.ones(3), "right": np.array([1.0, -1.0, 1.0])}


def _turn(axis, angle):
    return Rotation.from_rotvec(np.outer(angle, axis)).as_matrix()


def make_body(count=40, rate=100.0, least_flexion=0.5):
    """Joints (T, 3), rotations (T, 3, 3) of trunk, pelvis and arms, of one who stands and moves both arms."""
    time = np.arange(count) / rate
    phase = 2 * np.pi * 0.8 * time
    pelvis = _turn([0, 0, 1], 0.1 * np.sin(phase))
    pelvis_place = np.stack([0.02 * np.sin(phase), 0.01 * np.sin(phase), 0.95 + 0 * phase], axis=1)
    trunk = pelvis @ _turn([0, 1, 0], 0.1 + 0.05 * np.sin(phase + 1))
    chest = pelvis_place + pelvis @ [0.0, 0.0, 0.30]
    rotations, joints = {"pelvis": pelvis, "trunk": trunk}, {"chest": chest}
    for side, mirror in MIRROR.items():
        out = 1.0 if side == "left" else -1.0
        shoulder = chest + trunk @ (mirror * [0.0, 0.18, 0.12])
        swing = _turn([0, 1, 0], -0.6 - 0.4 * np.sin(phase)) @ _turn(
            [1, 0, 0], out * (0.4 + 0.2 * np.cos(phase))
        )
        upper_arm = trunk @ swing @ HANGING[side]
        # Elbows flex about -z on the left, z on the right.
        hinge = upper_arm @ _turn([0, 0, -out], least_flexion + 0.5 * (1 + np.sin(phase + 0.5)))
        forearm = hinge @ _turn([1, 0, 0], -out * 0.7 * np.sin(phase))
        rotations[f"{side}_upper_arm"], rotations[f"{side}_forearm"] = upper_arm, forearm
        rotations[f"{side}_hand"] = forearm @ _turn([0, 1, 0], 0.3 * np.cos(phase))
        elbow = shoulder + UPPER_ARM * upper_arm[:, :, 0]
        joints |= {f"{side}_shoulder": shoulder, f"{side}_elbow": elbow}
        joints[f"{side}_wrist"] = elbow + FOREARM * forearm[:, :, 0]
        width = 2 * ASIS[1]
        hip = pelvis_place + pelvis @ (mirror * [ASIS[0] - 0.22 * width, 0.36 * width, -0.30 * width])
        knee, ankle = hip - [0, 0, THIGH], hip - [0, 0, THIGH + SHANK]
        joints |= {f"{side}_hip": hip, f"{side}_knee": knee, f"{side}_ankle": ankle}
        joints |= {
            f"{side}_heel": ankle - np.array([0.06, 0, 0.07]),
            f"{side}_toe": ankle + np.array([0.16, 0, -0.06]),
        }
    joints["pelvis"] = (joints["left_hip"] + joints["right_hip"]) / 2
    return SimpleNamespace(time=time, joints=joints, rotations=rotations, pelvis_place=pelvis_place)


def _trunk_markers(body):
    chest, trunk = body.joints["chest"], body.rotations["trunk"]
    places = {
        "c7": (-0.06, 0, 0.2),
        "clavicle": (0.06, 0, 0.2),
        "t10": (-0.08, 0, 0),
        "sternum": (0.08, 0, 0),
    }
    markers = {name: chest + trunk @ place for name, place in places.items()}
    for side, mirror in MIRROR.items():
        markers[f"{side}_asis"] = body.pelvis_place + body.rotations["pelvis"] @ (mirror * ASIS)
        markers[f"{side}_psis"] = body.pelvis_place + body.rotations["pelvis"] @ (mirror * [-0.08, 0.05, 0.0])
        # The acromion markers are as far apart as the shoulders, 17 % of that above them.
        markers[f"{side}_acromion"] = body.joints[f"{side}_shoulder"] + trunk @ [0, 0, 0.17 * 0.36]
    return markers


def _sides(body):
    for side in MIRROR:
        upper_arm, forearm, hand = (body.rotations[f"{side}_{s}"] for s in ("upper_arm", "forearm", "hand"))
        thumb = -1.0 if side == "left" else 1.0
        elbow, wrist = body.joints[f"{side}_elbow"], body.joints[f"{side}_wrist"]
        yield side, thumb, upper_arm, forearm, hand, elbow, wrist


def _kim2005(body):
    trunk = _trunk_markers(body)
    markers = {name: track for name, track in trunk.items() if not name.endswith("acromion")}
    for side, thumb, upper_arm, _, hand, elbow, wrist in _sides(body):
        back = wrist + hand @ [0, 0, 0.025]
        markers |= {
            f"{side}_shoulder_marker": trunk[f"{side}_acromion"],
            f"{side}_biceps": elbow + upper_arm @ [-0.15, 0.0, 0.05],
            f"{side}_elbow_marker": elbow + upper_arm @ [0, 0, ELBOW_WIDTH],
            f"{side}_wrist_marker": back,
            f"{side}_thumb": back + hand @ [0.07, 0.04 * thumb, 0],
            f"{side}_pinky": back + hand @ [0.07, -0.04 * thumb, 0],
        }
    return markers


def _plug_in_gait(body):
    trunk, joints = _trunk_markers(body), body.joints
    markers = {"C7": trunk["c7"], "CLAV": trunk["clavicle"], "T10": trunk["t10"], "STRN": trunk["sternum"]}
    for side, thumb, upper_arm, forearm, hand, elbow, wrist in _sides(body):
        s, out = side[0].upper(), MIRROR[side] * [0, 1, 0]
        hip, knee, ankle = (joints[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        markers |= {
            f"{s}SHO": trunk[f"{side}_acromion"],
            f"{s}ELB": elbow + upper_arm @ [0, 0, ELBOW_WIDTH],
            f"{s}WRA": wrist + forearm @ [0, 0.03 * thumb, 0],
            f"{s}WRB": wrist + forearm @ [0, -0.03 * thumb, 0],
            f"{s}FIN": wrist + hand @ [0.08, 0, 0],
            f"{s}ASI": trunk[f"{side}_asis"],
            f"{s}PSI": trunk[f"{side}_psis"],
            f"{s}THI": (hip + knee) / 2 + 0.10 * out,
            f"{s}KNE": knee + KNEE_WIDTH * out,
            f"{s}TIB": (knee + ankle) / 2 + 0.08 * out,
            f"{s}ANK": ankle + ANKLE_WIDTH * out,
            f"{s}HEE": joints[f"{side}_heel"],
            f"{s}TOE": joints[f"{side}_toe"],
        }
    return markers


def _rajagopal(body):
    trunk, joints = _trunk_markers(body), body.joints
    markers = {}
    for side, _, upper_arm, _, _, elbow, wrist in _sides(body):
        s, out = side[0].upper(), MIRROR[side] * [0, 1, 0]
        markers |= {
            f"{s}.Shoulder": trunk[f"{side}_acromion"],
            f"{s}.Clavicle": trunk["clavicle"] + 0.02 * out,
            f"{s}.Elbow": elbow + upper_arm @ [0, 0, ELBOW_WIDTH],
            f"{s}.MElbow": elbow - upper_arm @ [0, 0, ELBOW_WIDTH],
            f"{s}.Wrist": wrist,
            f"{s}.ASIS": trunk[f"{side}_asis"],
            f"{s}.PSIS": trunk[f"{side}_psis"],
            f"{s}.Knee": joints[f"{side}_knee"] + KNEE_WIDTH * out,
            f"{s}.MKnee": joints[f"{side}_knee"] - KNEE_WIDTH * out,
            f"{s}.Heel": joints[f"{side}_heel"],
            f"{s}.Toe": joints[f"{side}_toe"],
        }
    return markers


MARKER_SETS = {"kim2005": _kim2005, "plug_in_gait": _plug_in_gait, "rajagopal": _rajagopal}


def record_markers(body, marker_set, **changes):
    markers = marker_set if isinstance(marker_set, dict) else MARKER_SETS[marker_set](body)
    known = {"time": body.time, "source": "trial", "up": "z"} | changes
    return MarkerRecording(names=tuple(markers), positions=np.stack(list(markers.values()), axis=1), **known)


def anatomical_places(body):
    """Markers by landmark: a pair at wrist and elbow, two knuckles, trunk and legs."""
    trunk, joints = _trunk_markers(body), body.joints
    markers = {
        "c7": trunk["c7"],
        "notch": trunk["clavicle"],
        "t10": trunk["t10"],
        "sternum": trunk["sternum"],
    }
    for side, thumb, upper_arm, forearm, hand, elbow, wrist in _sides(body):
        out = MIRROR[side] * [0, 1, 0]
        knee, ankle = joints[f"{side}_knee"], joints[f"{side}_ankle"]
        markers |= {
            f"{side}_acromion": trunk[f"{side}_acromion"],
            f"{side}_lateral_elbow": elbow + upper_arm @ [0, 0, ELBOW_WIDTH],
            f"{side}_medial_elbow": elbow - upper_arm @ [0, 0, ELBOW_WIDTH],
            f"{side}_radial_wrist": wrist + forearm @ [0, 0.03 * thumb, 0],
            f"{side}_ulnar_wrist": wrist + forearm @ [0, -0.03 * thumb, 0],
            f"{side}_index": wrist + hand @ [0.08, 0.03 * thumb, 0],
            f"{side}_little": wrist + hand @ [0.08, -0.03 * thumb, 0],
            f"{side}_asis": trunk[f"{side}_asis"],
            f"{side}_psis": trunk[f"{side}_psis"],
            f"{side}_lateral_knee": knee + KNEE_WIDTH * out,
            f"{side}_medial_knee": knee - KNEE_WIDTH * out,
            f"{side}_lateral_ankle": ankle + ANKLE_WIDTH * out,
            f"{side}_medial_ankle": ankle - ANKLE_WIDTH * out,
            f"{side}_heel": joints[f"{side}_heel"],
            f"{side}_toe": joints[f"{side}_toe"],
        }
    return markers
