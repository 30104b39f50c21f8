"""Layouts of joint arrays: the order in which body models, data sets and pose estimators number their joints.

Sources: SMPL, SMPL-H and SMPL-X (the `JOINT_NAMES` of the smplx package); Human3.6M in its 17 joints
(Martinez et al. 2017, VideoPose3D) and all 32; MPI-INF-3DHP; COCO keypoints and COCO-WholeBody; Halpe;
OpenPose BODY_25 and COCO; MediaPipe Pose; CMU Panoptic; Kinect v2 (also NTU RGB+D) and Azure Kinect.
"""

from collections.abc import Iterator

SIDES = ("left", "right")


def _sided(order: tuple[str, ...], *names: str) -> Iterator[str]:
    """Name `names` on the first side, then on the second."""
    for side in order:
        for name in names:
            yield f"{side}_{name}"


def _pairs(*names: str) -> Iterator[str]:
    """Name each of `names` on the left, then on the right."""
    for name in names:
        yield from (f"{side}_{name}" for side in SIDES)


RIGHT_FIRST = ("right", "left")
SMPL_BODY = (
    "pelvis", *_pairs("hip"), "spine1", *_pairs("knee"), "spine2", *_pairs("ankle"), "spine3",
    *_pairs("foot"), "neck", *_pairs("collar"), "head", *_pairs("shoulder", "elbow", "wrist"),
)  # fmt: skip
FINGERS = tuple(f"{finger}{k}" for finger in ("index", "middle", "pinky", "ring", "thumb") for k in (1, 2, 3))
# Vertices that the smplx package adds to the 24 joints of SMPL: face, feet and fingertips.
SMPL_VERTICES = (
    "nose", "right_eye", "left_eye", "right_ear", "left_ear",
    *_sided(SIDES, "big_toe", "small_toe", "heel"),
    *_sided(SIDES, "thumb_tip", "index_tip", "middle_tip", "ring_tip", "pinky_tip"),
)  # fmt: skip
COCO = ("nose", *_pairs("eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle"))
FACE_POINTS = 68
# The 21 points of a hand: wrist, then four from the base to the tip of each finger.
HAND_POINTS = (
    "hand_root",
    *(f"{f}{k}" for f in ("thumb", "index", "middle", "ring", "pinky") for k in (1, 2, 3, 4)),
)
ARM, LEG = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle")
# Points without a meaning for a body have the empty name.
LAYOUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "smpl": (
        (*SMPL_BODY, *_pairs("hand")),
        SMPL_BODY,
        (*SMPL_BODY, *_pairs("hand"), *SMPL_VERTICES),
    ),
    "smplh": ((*SMPL_BODY, *_sided(SIDES, *FINGERS)),),
    "smplx": ((*SMPL_BODY, "jaw", "", "", *_sided(SIDES, *FINGERS)),),
    "h36m": (
        ("pelvis", *_sided(RIGHT_FIRST, *LEG), "spine", "thorax", "nose", "head_top", *_sided(SIDES, *ARM)),
        (
            "pelvis", *_sided(("right",), *LEG, "toe"), "", *_sided(("left",), *LEG, "toe"), "",
            "spine", "thorax", "nose", "head_top", "",
            "", *_sided(("left",), *ARM), "", "", "", "", "", *_sided(("right",), *ARM), "", "", "", "",
        ),
    ),
    "mpi_inf_3dhp": (
        ("head_top", "neck", *_sided(RIGHT_FIRST, *ARM), *_sided(RIGHT_FIRST, *LEG), "pelvis", "spine",
         "head"),
    ),
    "coco": (
        COCO,
        (
            *COCO, *_sided(SIDES, "big_toe", "small_toe", "heel"), *[""] * FACE_POINTS,
            *_sided(SIDES, *HAND_POINTS),
        ),
    ),
    "halpe": ((*COCO, "head_top", "neck", "mid_hip", *_pairs("big_toe", "small_toe", "heel")),),
    "mediapipe": (
        (
            "nose", *_sided(SIDES, "eye_inner", "eye", "eye_outer"), *_pairs("ear"), "mouth_left",
            "mouth_right", *_pairs(*ARM, "pinky", "index", "thumb", *LEG, "heel", "foot_index"),
        ),
    ),
    "openpose25": (
        (
            "nose", "neck", *_sided(RIGHT_FIRST, *ARM), "mid_hip", *_sided(RIGHT_FIRST, *LEG),
            "right_eye", "left_eye", "right_ear", "left_ear", *_sided(SIDES, "big_toe", "small_toe", "heel"),
        ),
    ),
    "openpose18": (
        (
            "nose", "neck", *_sided(RIGHT_FIRST, *ARM), *_sided(RIGHT_FIRST, *LEG),
            "right_eye", "left_eye", "right_ear", "left_ear",
        ),
    ),
    "panoptic": (
        (
            "neck", "nose", "mid_hip", *_sided(("left",), *ARM, *LEG), *_sided(("right",), *ARM, *LEG),
            "left_eye", "left_ear", "right_eye", "right_ear",
        ),
    ),
    "kinect": (
        (
            "pelvis", "spine", "neck", "head", *_sided(SIDES, *ARM, "hand"), *_sided(SIDES, *LEG, "foot"),
            "chest", *_sided(SIDES, "hand_tip", "thumb"),
        ),
    ),
    "azure_kinect": (
        (
            "pelvis", "spine", "chest", "neck", *_sided(SIDES, "collar", *ARM, "hand", "hand_tip", "thumb"),
            *_sided(SIDES, *LEG, "foot"), "head", "nose", "left_eye", "left_ear", "right_eye", "right_ear",
        ),
    ),
}  # fmt: skip
# Other names of the layouts, as users and papers write them.
ALIASES = {
    "human36m": "h36m", "smpl24": "smpl", "smpl22": "smpl", "smpl45": "smpl",
    "smpl+h": "smplh", "smpl-h": "smplh", "smpl-x": "smplx", "humanml3d": "smpl",
    "coco17": "coco", "coco_wholebody": "coco", "coco-wholebody": "coco", "blazepose": "mediapipe",
    "openpose": "openpose25", "body25": "openpose25", "body_25": "openpose25", "halpe26": "halpe",
    "ntu": "kinect", "kinect_v2": "kinect", "cmu_panoptic": "panoptic",
}  # fmt: skip
# With these layouts, joints beyond the last named one are regressed from the body's surface and may be left
# out.
EXTENDED = ("smpl", "smplh", "smplx")


def layout_names(layout: str, count: int) -> tuple[str, ...] | None:
    """Name the joints of an array in a layout.

    `layout`: name of the layout, a key of `LAYOUTS`; `count`: number of joints of the array. Returns one name
    for each of the first joints, empty for points without a meaning for a body; None if the layout has no
    such number of joints. Body models may be followed by further joints, which get no name.
    """
    known = {len(names): names for names in LAYOUTS[layout]}
    if count in known:
        return known[count]
    shorter = [size for size in known if size < count] if layout in EXTENDED else []
    return known[max(shorter)] if shorter else None
