"""A known body in motion, written as BVH in the layouts of the programs that people record and animate with.

The body's joint centres and segment frames are computed here by the definitions of the anatomical frames,
with nothing of the readers or the recognition, so they are the truth that a reader must give back.
"""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

SIDES = ("left", "right")
OUTWARD = {"left": 1.0, "right": -1.0}
# Columns x (distal), y, z (lateral) of an arm's segments in trunk axes while the arm hangs, palm at the
# thigh.
HANGING = {
    "left": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
    "right": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
}
# Rows: axes of the file in those of the world (x forward, y left, z up).
FILE_AXES = {
    "y": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "z": np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "x": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "-y": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
}
METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
UPPER_ARM, FOREARM, THIGH, SHANK = 0.29, 0.25, 0.42, 0.41


def turn(axis, angle):
    """Rotations (T, 3, 3) about an axis by angles, rad."""
    return Rotation.from_rotvec(np.multiply.outer(np.atleast_1d(angle), axis)).as_matrix()


@dataclass(frozen=True)
class KnownBody:
    """Rotations of the segments (T, 3, 3) and the places of the pelvis (T, 3), m, in the world frame."""

    time: np.ndarray
    segments: dict
    pelvis: np.ndarray


def known_motion(frames=60, rate=60.0, heading=0.4, elbows=True):
    """A walk with waving arms that bend, in world axes."""
    time = np.arange(frames) / rate
    phase = 2.0 * np.pi * 1.1 * time
    x, y, z = np.eye(3)
    pelvis = turn(z, heading + 0.1 * np.sin(phase)) @ turn(y, 0.05 * np.sin(2 * phase))
    segments = {"pelvis": pelvis}
    segments["trunk"] = pelvis @ turn(z, -0.15 * np.sin(phase)) @ turn(y, 0.06 + 0.04 * np.cos(phase))
    segments["head"] = segments["trunk"] @ turn(z, 0.2 * np.sin(0.7 * phase))
    for side in SIDES:
        out, lag = OUTWARD[side], 0.0 if side == "left" else np.pi
        swing, hanging = np.sin(phase + lag), HANGING[side]
        shoulder = turn(y, -0.5 * swing) @ turn(x, out * (0.5 + 0.35 * np.cos(phase))) @ turn(z, 0.3 * swing)
        segments[f"{side}_upper_arm"] = segments["trunk"] @ shoulder @ hanging
        bend = 0.8 + 0.5 * swing if elbows else 0.0 * swing
        segments[f"{side}_forearm"] = segments[f"{side}_upper_arm"] @ turn(hanging.T @ -y, bend)
        wrist = turn(x, 0.3 * np.cos(phase)) @ turn(z, 0.2 * swing)
        segments[f"{side}_hand"] = segments[f"{side}_forearm"] @ wrist
        step = np.sin(phase + lag)
        segments[f"{side}_thigh"] = pelvis @ turn(y, 0.45 * step) @ turn(x, out * 0.04)
        segments[f"{side}_shank"] = segments[f"{side}_thigh"] @ turn(y, 0.35 + 0.3 * np.cos(phase + lag))
        segments[f"{side}_foot"] = segments[f"{side}_shank"] @ turn(y, -0.3 - 0.1 * step)
    place = np.stack([1.2 * time, 0.03 * np.sin(phase), 0.93 + 0.02 * np.cos(2 * phase)], axis=1)
    return KnownBody(time, segments, place @ turn(z, heading)[0].T)


# A joint: the segment that carries it, its place in that segment's axes, m, and the segment that begins
# there.
@dataclass(frozen=True)
class Place:
    carrier: str
    at: tuple
    segment: str


def places():
    """Where the joints of the body are."""
    found = {
        "pelvis": Place("", (0.0, 0.0, 0.0), "pelvis"),
        "spine": Place("pelvis", (0.0, 0.0, 0.1), "trunk"),
        "spine2": Place("trunk", (0.0, 0.0, 0.1), "trunk"),
        "chest": Place("trunk", (0.0, 0.0, 0.2), "trunk"),
        "neck": Place("trunk", (0.0, 0.0, 0.42), "trunk"),
        "head": Place("trunk", (0.02, 0.0, 0.50), "head"),
        "head_top": Place("head", (0.0, 0.0, 0.18), ""),
        "eye": Place("head", (0.08, 0.03, 0.08), "head"),
    }
    for side in SIDES:
        out = OUTWARD[side]
        thumb = -out
        found |= {
            f"{side}_clavicle": Place("trunk", (0.01, 0.03 * out, 0.36), "trunk"),
            f"{side}_shoulder": Place("trunk", (0.0, 0.18 * out, 0.38), f"{side}_upper_arm"),
            f"{side}_upper_twist": Place(f"{side}_upper_arm", (UPPER_ARM / 2, 0.0, 0.0), f"{side}_upper_arm"),
            f"{side}_elbow": Place(f"{side}_upper_arm", (UPPER_ARM, 0.0, 0.0), f"{side}_forearm"),
            f"{side}_fore_twist": Place(f"{side}_forearm", (FOREARM / 2, 0.0, 0.0), f"{side}_forearm"),
            f"{side}_wrist": Place(f"{side}_forearm", (FOREARM, 0.0, 0.0), f"{side}_hand"),
            f"{side}_hand_end": Place(f"{side}_hand", (0.17, 0.0, 0.0), ""),
            f"{side}_thumb1": Place(f"{side}_hand", (0.03, 0.03 * thumb, -0.015), f"{side}_hand"),
            f"{side}_thumb2": Place(f"{side}_hand", (0.06, 0.05 * thumb, -0.03), f"{side}_hand"),
            f"{side}_index1": Place(f"{side}_hand", (0.09, 0.03 * thumb, 0.0), f"{side}_hand"),
            f"{side}_middle1": Place(f"{side}_hand", (0.09, 0.0, 0.0), f"{side}_hand"),
            f"{side}_ring1": Place(f"{side}_hand", (0.09, -0.02 * thumb, 0.0), f"{side}_hand"),
            f"{side}_pinky1": Place(f"{side}_hand", (0.09, -0.04 * thumb, 0.0), f"{side}_hand"),
            f"{side}_index2": Place(f"{side}_hand", (0.13, 0.03 * thumb, 0.0), f"{side}_hand"),
            f"{side}_middle2": Place(f"{side}_hand", (0.135, 0.0, 0.0), f"{side}_hand"),
            f"{side}_ring2": Place(f"{side}_hand", (0.13, -0.02 * thumb, 0.0), f"{side}_hand"),
            f"{side}_pinky2": Place(f"{side}_hand", (0.12, -0.04 * thumb, 0.0), f"{side}_hand"),
            f"{side}_hip_helper": Place("pelvis", (0.0, 0.0, 0.0), "pelvis"),
            f"{side}_hip": Place("pelvis", (0.0, 0.09 * out, -0.05), f"{side}_thigh"),
            f"{side}_thigh_twist": Place(f"{side}_thigh", (0.0, 0.0, -THIGH / 2), f"{side}_thigh"),
            f"{side}_knee": Place(f"{side}_thigh", (0.0, 0.0, -THIGH), f"{side}_shank"),
            f"{side}_ankle": Place(f"{side}_shank", (0.0, 0.0, -SHANK), f"{side}_foot"),
            f"{side}_toe": Place(f"{side}_foot", (0.13, 0.0, -0.06), f"{side}_foot"),
            f"{side}_toe_end": Place(f"{side}_foot", (0.20, 0.0, -0.06), ""),
        }
    return found


def true_joint(body, name, scale=None):
    """Track (T, 3) of a joint's centre in the world frame, m."""
    place = places()[name]
    if not place.carrier:
        return body.pelvis
    # The joint at which the carrying segment begins.
    origin = {"trunk": "spine", "pelvis": "pelvis", "head": "head"}
    side = place.carrier.partition("_")[0]
    begins = {
        "upper_arm": "shoulder",
        "forearm": "elbow",
        "hand": "wrist",
        "thigh": "hip",
        "shank": "knee",
        "foot": "ankle",
    }
    start = origin.get(place.carrier) or f"{side}_{begins[place.carrier.partition('_')[2]]}"
    return true_joint(body, start) + body.segments[place.carrier] @ np.array(place.at)


@dataclass(frozen=True)
class Dialect:
    """The layout of a program's BVH files: joints by name, in a tree.

    `joints` maps the name in the file to (place of the body, name of the parent); sides are `left` first.
    """

    name: str
    joints: dict
    rest: str = "T"
    up: str = "y"
    unit: str = "cm"
    rate: float = 60.0
    order: str = "ZXY"
    first_frame: bool = False
    fingers: bool = False
    spoil: dict = field(default_factory=dict)
    rigid: bool = True


def rest_rotation(segment, rest, axes):
    """Rotation of a segment in the rest pose, in the file's axes."""
    side, _, part = segment.partition("_")
    arm, leg = part in ("upper_arm", "forearm", "hand"), part in ("thigh", "shank", "foot")
    if rest == "along x":
        # All bones along the file's x axis: a pose that nobody takes.
        if arm:
            return np.array([[1.0, 0.0, 0.0], [0.0, OUTWARD[side], 0.0], [0.0, 0.0, OUTWARD[side]]])
        if leg:
            return np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
        return np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    rotation = np.eye(3)
    if arm:
        raised = {"A": 0.7, "I": 0.0}.get(rest, np.pi / 2)
        rotation = turn([1.0, 0.0, 0.0], OUTWARD[side] * raised)[0] @ HANGING[side]
        if rest == "T arms turned" or (rest == "T palms forward" and part != "upper_arm"):
            # Supinated, or rotated at the shoulder, by a quarter turn: the thumbs point up.
            rotation = rotation @ turn([1.0, 0.0, 0.0], OUTWARD[side] * np.pi / 2)[0]
    return axes @ rotation


def write_bvh(dialect, body):
    """The text of a BVH file of the body in a dialect's layout."""
    axes = FILE_AXES[dialect.up]
    known, scale = places(), 1.0 / METRES[dialect.unit]
    rest = {segment: rest_rotation(segment, dialect.rest, axes) for segment in body.segments}
    tracks = {}
    for name, (place, _) in dialect.joints.items():
        tracks[name] = true_joint(body, place) if place else np.zeros_like(body.pelvis)
    turned = {
        segment: np.einsum("ij,tjk,lk->til", axes, rotation, rest[segment])
        for segment, rotation in body.segments.items()
    }
    children = {}
    for name, (_, parent) in dialect.joints.items():
        children.setdefault(parent, []).append(name)
    orders, table, lines = dialect.order, [], ["HIERARCHY"]
    identity = np.tile(np.eye(3), (len(body.time), 1, 1))

    def rotation_of(name):
        place = dialect.joints[name][0]
        return turned[known[place].segment] if place and known[place].segment else None

    def block(name, parent, depth):
        place = dialect.joints[name][0]
        indent = "\t" * depth
        carried = identity if parent is None else rotation_of(parent)
        carried = identity if carried is None else carried
        here = scale * tracks[name] @ axes.T
        above = np.zeros_like(here) if parent is None else scale * tracks[parent] @ axes.T
        local = np.einsum("tji,tj->ti", carried, here - above)
        offset = np.zeros(3) if parent is None else local.mean(axis=0) * dialect.spoil.get(name, 1.0)
        # Places are rigid in their parent's axes; a spoiled file breaks what follows, not this.
        travels = parent is not None and not dialect.joints[parent][0]
        assert (
            parent is None
            or travels
            or not dialect.rigid
            or np.abs(local - local.mean(axis=0)).max() < 1e-9 * scale
        ), (name, parent)
        own = rotation_of(name)
        if own is None and place:
            lines.append(
                f"{indent}End Site\n{indent}{{\n{indent}\tOFFSET "
                f"{' '.join(map(repr, offset.tolist()))}\n{indent}}}"
            )
            return
        own = identity if own is None else own
        lines.append(f"{indent}{'ROOT' if parent is None else 'JOINT'} {name}\n{indent}{{")
        lines.append(f"{indent}\tOFFSET {' '.join(map(repr, offset.tolist()))}")
        rotations = " ".join(f"{axis}rotation" for axis in orders)
        if parent is None or travels:
            lines.append(f"{indent}\tCHANNELS 6 Xposition Yposition Zposition {rotations}")
            table.append(local)
        else:
            lines.append(f"{indent}\tCHANNELS 3 {rotations}")
        relative = np.einsum("tji,tjk->tik", carried, own)
        with warnings.catch_warnings():
            # Near the singularity the angles are not unique, but give the rotation back.
            warnings.simplefilter("ignore", UserWarning)
            table.append(Rotation.from_matrix(relative).as_euler(orders, degrees=True))
        for child in children.get(name, []):
            block(child, name, depth + 1)
        if not children.get(name):
            lines.append(f"{indent}\tEnd Site\n{indent}\t{{\n{indent}\t\tOFFSET 0 0 0\n{indent}\t}}")
        lines.append(f"{indent}}}")

    (root,) = children[None]
    block(root, None, 0)
    rows = np.concatenate(table, axis=1)
    if dialect.first_frame:
        rows = np.concatenate([np.zeros((1, rows.shape[1])), rows])
        rows[0, :3] = rows[1, :3]
    lines += ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {1.0 / dialect.rate:.10g}"]
    lines += [" ".join(f"{value:.9f}" for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def _tree(text, prefix=""):
    """Read a layout: `name = place` a line, indented below its parent; `{S}` stands for both sides.

    In a line, `{S}`, `{s}`, `{Side}`, `{side}` give the side; the subtree is written once for each.
    """
    entries = []
    for line in text.strip("\n").split("\n"):
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, place = line.strip().rpartition("=")
        entries.append((depth, name.strip(), place.strip()))
    joints = {}

    def has_side(entry):
        return any(mark in entry[1] + entry[2] for mark in ("{S}", "{s}", "{Side}", "{side}"))

    def add(rows, parents, side):
        k = 0
        while k < len(rows):
            depth, name, place = rows[k]
            end = next((j for j in range(k + 1, len(rows)) if rows[j][0] <= depth), len(rows))
            for one in (side,) if side or not has_side(rows[k]) else SIDES:
                marks = {}
                if one:
                    marks = {"{S}": one[0].upper(), "{s}": one[0], "{Side}": one.capitalize(), "{side}": one}
                filled, where = name, place
                for mark, text_ in marks.items():
                    filled, where = filled.replace(mark, text_), where.replace(mark, text_)
                if where.startswith("*"):
                    where = f"{one}_{where[1:]}"
                joints[prefix + filled] = (where, parents[-1] if parents else None)
                add(rows[k + 1 : end], [*parents, prefix + filled], one)
            k = end

    add(entries, [], "")
    return joints


def _fingers(joints, hand, pattern, parts=("thumb", "index", "middle", "ring", "pinky"), first=1):
    """Add two joints of each finger below the hands; `pattern` has {Side}, {S}, {Finger}, {k} and others."""
    joints = dict(joints)
    for side in SIDES:
        marks = {"Side": side.capitalize(), "side": side, "S": side[0].upper(), "s": side[0]}
        above = hand.format(**marks)
        for number, finger in enumerate(parts):
            one, two = (
                pattern.format(
                    Finger=finger.capitalize(), finger=finger, n=number, m=number + 1, k=first + k, **marks
                )
                for k in (0, 1)
            )
            joints[one] = (f"{side}_{finger}1", above)
            joints[two] = (f"{side}_{finger}2", one)
    return joints


MOTIONBUILDER_LEG = """
  {Side}UpLeg = *hip
    {Side}Leg = *knee
      {Side}Foot = *ankle
        {Side}ToeBase = *toe
          {Side}Toe_End = *toe_end"""
MOTIONBUILDER = f"""
Hips = pelvis{MOTIONBUILDER_LEG}
  Spine = spine
    Spine1 = spine2
      Spine2 = chest
        Neck = neck
          Head = head
            HeadTop_End = head_top
        {{Side}}Shoulder = *clavicle
          {{Side}}Arm = *shoulder
            {{Side}}ForeArm = *elbow
              {{Side}}Hand = *wrist"""
SMPL_TREE = """
Pelvis = pelvis
  {S}_Hip = *hip
    {S}_Knee = *knee
      {S}_Ankle = *ankle
        {S}_Foot = *toe
  Spine1 = spine
    Spine2 = spine2
      Spine3 = chest
        Neck = neck
          Head = head
        {S}_Collar = *clavicle
          {S}_Shoulder = *shoulder
            {S}_Elbow = *elbow
              {S}_Wrist = *wrist
                {S}_Hand = *middle1"""
BIPED = """
Bip01 = pelvis
  Bip01 Pelvis = pelvis
    Bip01 Spine = spine
      Bip01 Spine1 = chest
        Bip01 Neck = neck
          Bip01 Head = head
          Bip01 {S} Clavicle = *clavicle
            Bip01 {S} UpperArm = *shoulder
              Bip01 {S} ForeTwistHelper = *upper_twist
              Bip01 {S} Forearm = *elbow
                Bip01 {S} Hand = *wrist
                  Bip01 {S} Finger0 = *thumb1
                  Bip01 {S} Finger1 = *index1
                  Bip01 {S} Finger4 = *pinky1
    Bip01 {S} Thigh = *hip
      Bip01 {S} Calf = *knee
        Bip01 {S} Foot = *ankle
          Bip01 {S} Toe0 = *toe"""
BIOVISION = """
Hips = pelvis
  {Side}Hip = *hip
    {Side}Knee = *knee
      {Side}Ankle = *ankle
        {Side}Toe = *toe
  Chest = spine
    Chest2 = spine2
      Chest3 = spine2
        Chest4 = chest
          Neck = neck
            Head = head
          {Side}Collar = *clavicle
            {Side}Shoulder = *shoulder
              {Side}Elbow = *elbow
                {Side}Wrist = *wrist
                  {Side}Wrist_tip = *hand_end"""
DAZ = """
hip = pelvis
  abdomen = spine
    chest = chest
      neck = neck
        head = head
          leftEye = eye
      {s}Collar = *clavicle
        {s}Shldr = *shoulder
          {s}ForeArm = *elbow
            {s}Hand = *wrist
              {s}Thumb1 = *thumb1
              {s}Index1 = *index1
              {s}Mid1 = *middle1
              {s}Ring1 = *ring1
              {s}Pinky1 = *pinky1
  {s}Buttock = *hip_helper
    {s}Thigh = *hip
      {s}Shin = *knee
        {s}Foot = *ankle
          {s}Toe = *toe"""
CMU = """
Hips = pelvis
  {S}HipJoint = *hip_helper
    {Side}UpLeg = *hip
      {Side}Leg = *knee
        {Side}Foot = *ankle
          {Side}ToeBase = *toe
  LowerBack = pelvis
    Spine = spine
      Spine1 = chest
        Neck = neck
          Neck1 = neck
            Head = head
        {Side}Shoulder = *clavicle
          {Side}Arm = *shoulder
            {Side}ForeArm = *elbow
              {Side}Hand = *wrist
                {Side}FingerBase = *wrist
                  {Side}HandIndex1 = *middle1
                {S}Thumb = *wrist"""
MAKEHUMAN = """
root = pelvis
  pelvis.{S} = *hip_helper
    upperleg01.{S} = *hip
      upperleg02.{S} = *thigh_twist
        lowerleg01.{S} = *knee
          foot.{S} = *ankle
            toe1-1.{S} = *toe
  spine05 = spine
    spine03 = spine2
      spine01 = chest
        neck01 = neck
          head = head
            eye.L = eye
        clavicle.{S} = *clavicle
          upperarm01.{S} = *shoulder
            upperarm02.{S} = *upper_twist
              lowerarm01.{S} = *elbow
                lowerarm02.{S} = *fore_twist
                  wrist.{S} = *wrist
                    finger1-1.{S} = *thumb1
                    finger2-1.{S} = *index1
                    finger5-1.{S} = *pinky1"""
RIGIFY = """
spine = pelvis
  spine.001 = spine
    spine.003 = chest
      spine.004 = neck
        spine.006 = head
      shoulder.{S} = *clavicle
        upper_arm.{S} = *shoulder
          forearm.{S} = *elbow
            hand.{S} = *wrist
              thumb.01.{S} = *thumb1
              f_index.01.{S} = *index1
              f_pinky.01.{S} = *pinky1
  pelvis.{S} = *hip_helper
  thigh.{S} = *hip
    shin.{S} = *knee
      foot.{S} = *ankle
        toe.{S} = *toe"""
UNREAL = """
root =
  pelvis = pelvis
    spine_01 = spine
      spine_02 = spine2
        spine_03 = chest
          clavicle_{s} = *clavicle
            upperarm_{s} = *shoulder
              upperarm_twist_01_{s} = *upper_twist
              lowerarm_{s} = *elbow
                lowerarm_twist_01_{s} = *fore_twist
                hand_{s} = *wrist
                  index_01_{s} = *index1
                  middle_01_{s} = *middle1
                  pinky_01_{s} = *pinky1
                  thumb_01_{s} = *thumb1
          neck_01 = neck
            head = head
    thigh_{s} = *hip
      thigh_twist_01_{s} = *thigh_twist
      calf_{s} = *knee
        foot_{s} = *ankle
          ball_{s} = *toe"""
ICLONE = """
CC_Base_BoneRoot =
  CC_Base_Hip = pelvis
    CC_Base_Pelvis = pelvis
      CC_Base_{S}_Thigh = *hip
        CC_Base_{S}_Calf = *knee
          CC_Base_{S}_Foot = *ankle
            CC_Base_{S}_ToeBase = *toe
    CC_Base_Waist = spine
      CC_Base_Spine01 = spine2
        CC_Base_Spine02 = chest
          CC_Base_NeckTwist01 = neck
            CC_Base_Head = head
          CC_Base_{S}_Clavicle = *clavicle
            CC_Base_{S}_Upperarm = *shoulder
              CC_Base_{S}_UpperarmTwist01 = *upper_twist
              CC_Base_{S}_Forearm = *elbow
                CC_Base_{S}_ForearmTwist01 = *fore_twist
                CC_Base_{S}_Hand = *wrist
                  CC_Base_{S}_Index1 = *index1
                  CC_Base_{S}_Pinky1 = *pinky1"""
VRM = """
Hips = pelvis
  {Side}UpperLeg = *hip
    {Side}LowerLeg = *knee
      {Side}Foot = *ankle
        {Side}Toes = *toe
  Spine = spine
    Chest = spine2
      UpperChest = chest
        Neck = neck
          Head = head
        {Side}Shoulder = *clavicle
          {Side}UpperArm = *shoulder
            {Side}LowerArm = *elbow
              {Side}Hand = *wrist"""
BANDAI = """
joint_Root =
  Hips = pelvis
    Spine = spine
      Chest = chest
        Neck = neck
          Head = head
        Shoulder_{S} = *clavicle
          UpperArm_{S} = *shoulder
            LowerArm_{S} = *elbow
              Hand_{S} = *wrist
    UpperLeg_{S} = *hip
      LowerLeg_{S} = *knee
        Foot_{S} = *ankle
          Toes_{S} = *toe"""
SOMA = """
Hips = pelvis
  Spine1 = spine
    Spine2 = spine2
      Chest = chest
        Neck1 = neck
          Neck2 = neck
            Head = head
              HeadEnd = head_top
        {Side}Shoulder = *clavicle
          {Side}Arm = *shoulder
            {Side}ForeArm = *elbow
              {Side}Hand = *wrist
  {Side}Leg = *hip
    {Side}Shin = *knee
      {Side}Foot = *ankle
        {Side}ToeBase = *toe
          {Side}ToeEnd = *toe_end"""
ROKOKO = """
Hips = pelvis
  Spine1 = spine
    Spine2 = spine2
      Spine3 = spine2
        Spine4 = chest
          Neck = neck
            Head = head
          {Side}Shoulder = *clavicle
            {Side}Arm = *shoulder
              {Side}ForeArm = *elbow
                {Side}Hand = *wrist
  {Side}Thigh = *hip
    {Side}Shin = *knee
      {Side}Foot = *ankle
        {Side}Toe = *toe
          {Side}ToeTip = *toe_end"""
MOTIVE = """
Hips = pelvis
  Ab = spine
    Chest = chest
      Neck = neck
        Head = head
      {S}Shoulder = *clavicle
        {S}UArm = *shoulder
          {S}FArm = *elbow
            {S}Hand = *wrist
  {S}Thigh = *hip
    {S}Shin = *knee
      {S}Foot = *ankle
        {S}Toe = *toe"""
DEEPMOTION = """
hips_JNT = pelvis
  {s}_upleg_JNT = *hip
    {s}_leg_JNT = *knee
      {s}_foot_JNT = *ankle
        {s}_toebase_JNT = *toe
  spine_JNT = spine
    spine1_JNT = spine2
      spine2_JNT = chest
        neck_JNT = neck
          head_JNT = head
        {s}_shoulder_JNT = *clavicle
          {s}_arm_JNT = *shoulder
            {s}_forearm_JNT = *elbow
              {s}_hand_JNT = *wrist"""
XSENS = BIOVISION.replace("{Side}Wrist_tip = *hand_end", "{Side}Hand_tip = *hand_end")
ACCLAIM = """
root = pelvis
  {s}hipjoint = *hip_helper
    {s}femur = *hip
      {s}tibia = *knee
        {s}foot = *ankle
          {s}toes = *toe
  lowerback = spine
    upperback = spine2
      thorax = chest
        lowerneck = neck
          upperneck = neck
            head = head
        {s}clavicle = *clavicle
          {s}humerus = *shoulder
            {s}radius = *elbow
              {s}wrist = *fore_twist
                {s}hand = *wrist
                  {s}fingers = *middle1
                  {s}thumb = *thumb1"""
KINECT = """
SpineBase = pelvis
  SpineMid = spine
    SpineShoulder = chest
      Neck = neck
        Head = head
      Shoulder{Side} = *shoulder
        Elbow{Side} = *elbow
          Wrist{Side} = *wrist
            Hand{Side} = *middle1
  Hip{Side} = *hip
    Knee{Side} = *knee
      Ankle{Side} = *ankle
        Foot{Side} = *toe"""


def _unnamed(joints):
    """The same tree with names that say nothing."""
    names = {name: f"joint_{number}" for number, name in enumerate(joints)}
    return {names[name]: (place, names.get(parent)) for name, (place, parent) in joints.items()}


def dialects():
    """All dialects by name."""
    mixamo = _tree(MOTIONBUILDER, "mixamorig:")
    mixamo = _fingers(mixamo, "mixamorig:{Side}Hand", "mixamorig:{Side}Hand{Finger}{k}")
    soma = _fingers(_tree(SOMA), "{Side}Hand", "{Side}Hand{Finger}{k}")
    noitom = _tree(MOTIONBUILDER)
    noitom = _fingers(noitom, "{Side}Hand", "{Side}Hand{Finger}{k}", ("thumb",))
    for side in ("Left", "Right"):
        low = side.lower()
        for finger in ("Index", "Middle", "Ring", "Pinky"):
            noitom[f"{side}InHand{finger}"] = (f"{low}_wrist", f"{side}Hand")
            noitom[f"{side}Hand{finger}1"] = (f"{low}_{finger.lower()}1", f"{side}InHand{finger}")
    lafan = _tree(MOTIONBUILDER.replace("ToeBase", "Toe").replace("{Side}Toe_End = *toe_end", "").rstrip())
    lafan = {name: value for name, value in lafan.items() if name and "End" not in name}
    biovision = {n: v for n, v in _tree(BIOVISION).items() if not n.startswith("Chest") or n == "Chest4"}
    biovision = {
        n.replace("Chest4", "Chest"): (
            p.replace("chest", "spine"),
            q if q is None else "Hips" if "Chest" in q and n == "Chest4" else q.replace("Chest4", "Chest"),
        )
        for n, (p, q) in biovision.items()
    }
    plain = [
        Dialect("mixamo", mixamo, rate=30.0, fingers=True),
        Dialect(
            "mixamo, underscores",
            {n.replace(":", "_"): (p, q and q.replace(":", "_")) for n, (p, q) in mixamo.items()},
            fingers=True,
            unit="m",
        ),
        Dialect("character1", _tree(MOTIONBUILDER, "Character1_"), order="XYZ", rate=120.0),
        Dialect("sim prefix", _tree(MOTIONBUILDER, "sim"), first_frame=True),
        Dialect("xsens", _tree(XSENS), rate=240.0, order="YXZ"),
        Dialect("100STYLE", _tree(BIOVISION), order="YXZ"),
        Dialect(
            "rokoko", _fingers(_tree(ROKOKO), "{Side}Hand", "{Side}Finger{m}Joint{k}"), unit="m", order="XYZ"
        ),
        Dialect("noitom", noitom, rate=125.0, order="YXZ", fingers=True),
        Dialect("nokov", _tree(MOTIONBUILDER), order="ZYX", unit="mm", first_frame=True),
        Dialect("SOMA 77", soma, rest="T", rate=120.0, fingers=True),
        Dialect("biped", _tree(BIPED), rest="I", up="z", unit="in", order="XYZ", fingers=True),
        Dialect("motive", _tree(MOTIVE), rate=240.0, order="XYZ", unit="m"),
        Dialect("bandai", _tree(BANDAI), rest="A", rate=30.0, order="ZYX"),
        Dialect("lafan1", lafan, rest="along x", rate=30.0, order="ZYX"),
        Dialect("cmu", _tree(CMU), rate=120.0),
        Dialect("cmu, acclaim names", _tree(ACCLAIM), rest="I", unit="in", rate=120.0),
        Dialect("daz", _tree(DAZ), order="XZY", fingers=True),
        Dialect("makehuman", _tree(MAKEHUMAN), rest="A", unit="cm", up="y", fingers=True, rate=24.0),
        Dialect("biovision", biovision, rest="I", unit="in", rate=30.0, order="ZXY"),
        Dialect("smpl", _tree(SMPL_TREE), unit="m", rate=30.0),
        Dialect(
            "smpl, lower case",
            {
                n.replace("L_", "left_").replace("R_", "right_").lower(): (
                    p,
                    q and q.replace("L_", "left_").replace("R_", "right_").lower(),
                )
                for n, (p, q) in _tree(SMPL_TREE).items()
            },
            unit="m",
            up="z",
        ),
        Dialect("vrm", _tree(VRM), unit="m"),
        Dialect("unreal", _tree(UNREAL), rest="A", up="z", fingers=True),
        Dialect("iclone", _tree(ICLONE), rest="A", up="z", fingers=True),
        Dialect("rigify", _tree(RIGIFY), rest="T", up="z", unit="m", fingers=True),
        Dialect("deepmotion", _tree(DEEPMOTION)),
        Dialect("kinect", _tree(KINECT), unit="m", rate=30.0),
        Dialect("mixamo, palms forward", mixamo, rest="T palms forward", fingers=True),
        Dialect("x up", _tree(VRM), up="x"),
        Dialect("y down", _tree(MOTIONBUILDER), up="-y"),
        Dialect("unnamed", _unnamed(_tree(MOTIONBUILDER))),
        Dialect("unnamed, hanging", _unnamed(_tree(BIPED)), rest="I", up="z"),
        Dialect("unnamed, along x", _unnamed(lafan), rest="along x"),
    ]
    return {dialect.name: dialect for dialect in plain}


def rename(dialect, change):
    """The dialect with other names of its joints."""
    names = {name: change(name) for name in dialect.joints}
    joints = {names[name]: (place, names.get(parent)) for name, (place, parent) in dialect.joints.items()}
    return replace(dialect, joints=joints)


def without(dialect, name):
    """The dialect without one joint; its children hang on its parent."""
    above = dialect.joints[name][1]
    joints = {
        one: (place, above if parent == name else parent)
        for one, (place, parent) in dialect.joints.items()
        if one != name
    }
    return replace(dialect, joints=joints, rigid=False)
