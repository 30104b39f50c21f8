"""Whole-body inverse kinematics over time: palms on their handles, legs and pelvis under the COG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BPoly
from scipy.spatial.transform import Rotation

from simbench.balance.ground_reaction import lipm_com_offset, planned_zmp
from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.leg_ik import Stance, height_range, leg_columns, solve_com_ik, stand
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk, savgol_filter
from simbench.kinematics.obstacles import Obstacle
from simbench.kinematics.path_solver import interpolate_change, time_grids
from simbench.kinematics.time_optimal import time_scaling_factor
from simbench.motion.human_motion import HandlePath, HumanMotion
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.collision.avoidance import avoid_collisions, clear_path
from simbench.retargeting.collision.clearance import body_shapes, release_legs
from simbench.retargeting.contact.hand_plan import (
    ARRIVAL_TIME,
    Equipment,
    HandPlan,
    Resistance,
    near_contact,
    plan_hands,
)
from simbench.retargeting.contact.transfer import BoneAims, PreferredPath, transfer_frames, transfer_path
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.imitation.weighted_posture import RETURN_TIME, weighted_posture
from simbench.retargeting.placement.placement import BasePlacement, evaluate_placement
from simbench.retargeting.placement.root_placement import NominalPosture
from simbench.retargeting.timing.preserve import LEAST_KNOTS, keep_height_tempo
from simbench.retargeting.timing.stretch import TempoMap
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES
from simbench.system.progress import OnProgress

# At most so many rounds of arms and legs in turn, before collisions are avoided, and again after it.
BALANCE_ROUNDS = 4
# Change of the pelvis' pose, m or rad, below which arms and legs agree.
_CONVERGED = 3e-5
# Time before and after a penetration in which arms are led round the body, s.
_ROUND_TIME = 0.3
# Margin between links, and between links and equipment, m, and the one of a motion in which hands hold
# nothing: there is room for what the joints' control leaves.
_CLEARANCE, _FREE_CLEARANCE = 0.003, 0.015
# Distance from a handle, m, above which another posture is tried; at a few samples a second that is certain
# above the second one only.
GRIP_TOLERANCE, _GRIP_LOST = 0.001, 0.005
# Time before and after contact, s, over which one posture is blended into another.
_BLEND_TIME = 2.5
# Window, s, that smooths a recorded pelvis, and postures that step from pose to pose of a handle's path.
_SMOOTHING_WINDOW = 0.31
# Height, m, below which a person's shoulders say nothing of the pelvis' height: the recording's floor is
# not at 0, or the person lies.
_MIN_SHOULDER_HEIGHT = 0.5
# Fraction used of the heights that the legs allow: the rest is for the sway that balance takes.
_LEG_RANGE_FRACTION = 0.6
# Sine of the angle between the vertical and a joint of the waist from which on it leans.
_LEANS = 0.3
# Bound of the pelvis' lean, rad, of its speed, rad/s, and acceleration, rad/s², which shifts the ZMP of a
# humanoid by 2 cm, and time over which this sets in, s.
_MOST_LEAN, _LEAN_SPEED, _LEAN_ACCELERATION, _LEAN_ONSET = 0.5, 2.0, 3.0, 0.3
# Time over which the pelvis leaves its nominal pose and returns to it, s.
_FADE_TIME = 1.0
# Displacement of the hands, m, over which friction reverses: grips and fingers give way by so much.
_PRESLIDING_DISPLACEMENT = 0.001
# Time at both ends over which inertia begins to count, s: twice the time constant with which a pendulum as
# high as a robot falls.
_INERTIA_ONSET_TIME = 0.5
# Offset of the COG from the desired ZMP, m, up to which it is as computed, and its bound: half a sole.
_LINEAR_RANGE, _MAX_OFFSET = 0.04, 0.08


@dataclass(frozen=True)
class WholeBodyProblem:
    """Constants of the whole-body inverse kinematics of one plan, at T samples.

    The robot has a floating base and n joints, of which `columns` (m,) are trunk and arms, with lower and
    upper `limits` (m,), rad, margin included. `section` names the posture of its legs and head;
    `embedding` says whether the legs react to the upper body's motion. `speed_limit` (n,), rad/s, may be
    used; `sway` (2, 2) projects onto the directions in which the legs let it sway; `pelvis_height`
    (T,), m, is desired above that of the stance, and the pelvis is turned from upright
    by `pelvis_turn` (T, 3), rad, rotation vectors in world axes, or not at all. `on_progress` is called
    before every round. `tempo` is None to slow all of the motion by one factor, at least `least_slow_down`,
    until speed limits hold; with the timing `preserve` that factor is 1, and limits are kept otherwise.
    """

    robot: Robot
    settings: RetargetSection
    equipment: Equipment
    imitation: Imitation
    section: RobotSection
    base_placement: BasePlacement
    stance: Stance
    embedding: bool
    contact: HandPlan
    columns: NDArray[np.int64]
    limits: tuple[Array, Array]
    speed_limit: Array
    pelvis_height: Array
    on_progress: OnProgress
    bones: BoneAims | None = None
    pelvis_turn: Array | None = None
    sway: Array | None = None
    least_slow_down: float = 1.0
    tempo: TempoMap | None = None

    def at_samples(self, samples: NDArray[np.int64]) -> "WholeBodyProblem":
        """Keep some samples (K,) of the problem."""
        time, hands = self.imitation.time[samples], self.contact
        parts = ("share", "contact", "targets", "actor")
        taken = {part: {side: each[samples] for side, each in getattr(hands, part).items()} for part in parts}
        grip = {side: near_contact(time, held, ARRIVAL_TIME) for side, held in taken["contact"].items()}
        return replace(
            self,
            imitation=Imitation(self.imitation.actor, time, self.imitation.q[samples]),
            contact=replace(hands, **taken, grip=grip),
            bones=self.bones and self.bones.at_samples(samples),
            pelvis_height=self.pelvis_height[samples],
            pelvis_turn=None if self.pelvis_turn is None else self.pelvis_turn[samples],
        )


@dataclass(frozen=True)
class WholeBodyMotion:
    """Motion of the whole robot at the T samples of the recording.

    Poses `base` (T, 7) of the root link in the world frame (position, m, and quaternion), positions `joints`
    (T, n), rad, the posture `preferred` (T, m) of trunk and arms that the solution stays near, rad, the
    desired motion of the hands, and the desired `zmp` (T, 2) in the world frame, m.
    """

    base: Array
    joints: Array
    preferred: Array
    hands: HandPlan
    zmp: Array


def solve_arms_and_legs(problem: WholeBodyProblem, posture: Array) -> WholeBodyMotion:
    """Solve arms and legs in turn for a preferred posture (T, m), rad, from the nominal stance on.

    The arms need the pelvis, the pelvis needs the COG, the COG needs the ZMP, and the ZMP needs the arms:
    arms and legs are solved in turn until the pelvis' pose no longer changes. A seated robot's pelvis and
    legs stay at rest. The person's posture may lead the robot's arms into a joint limit; the postures found
    for the base placement do not: if a palm misses its handle, arms and legs are solved again near these.
    Then the weighted criteria move trunk and arms while hands hold something, if the settings say so. It is a
    `RetargetError` if the equipment is out of reach.
    """
    robot, time, columns = problem.robot, problem.imitation.time, problem.columns
    joints = np.tile(problem.stance.joints, (len(posture), 1))
    joints[:, columns] = posture
    height, turn, embedding = problem.pelvis_height, problem.pelvis_turn, problem.embedding
    base, joints = solve_com_ik(robot, problem.stance, joints, height=height, turn=turn, embedding=embedding)
    motion = _alternate(problem, posture, base, joints, range(BALANCE_ROUNDS), bones=problem.bones)
    near = range(1, BALANCE_ROUNDS)
    if measure_grip_error(robot, motion.base, motion.joints, motion.hands, time)[0] > GRIP_TOLERANCE:
        joints = motion.joints.copy()
        names = tuple(problem.imitation.actor.model.names[2:])
        task = problem.equipment.handles, time, posture, names, motion.hands
        place, legs = problem.base_placement, problem.section.posture
        preferred, joints[:, columns] = blend_into_reach(robot, place, legs, *task)
        motion = _alternate(problem, preferred, motion.base, joints, near, bones=problem.bones)
    if problem.bones is not None:
        # From now on it is the solution that arms stay near.
        motion = replace(motion, preferred=motion.joints[:, columns])
    if problem.settings.weights is None:
        return motion
    arms, held = motion.joints[:, columns], problem.contact.any_hand
    criteria = near_contact(time, held, RETURN_TIME), np.array(problem.settings.weights.shares)
    posture = weighted_posture(robot, time, arms, motion.base, held, *criteria, *problem.limits)
    return _alternate(problem, posture, motion.base, motion.joints, near)


def solve_at_tempo(problem: WholeBodyProblem, motion: WholeBodyMotion) -> WholeBodyMotion:
    """Solve arms and legs again near a solution, so that the legs balance it at the problem's new tempo."""
    # What a third round changes is below 0.2 mm.
    return _alternate(problem, motion.preferred, motion.base, motion.joints, range(1, 3), draft=False)


def _alternate(
    problem: WholeBodyProblem,
    posture: Array,
    base: Array,
    joints: Array,
    rounds: range,
    *,
    draft: bool = True,
    bones: BoneAims | None = None,
) -> WholeBodyMotion:
    """Solve arms, then legs, in turn near a posture (T, m), starting from a base and joints.

    Round 0 starts the arms anew. With `draft`, arms and legs first agree at a few samples a second: at all of
    them they then do after a round or two. Without hands that hold something, and where arms are solved frame
    by frame, there is nothing to gain. The draft of a motion that starts anew is the result, interpolated, if
    a palm is far from its handle in it: another posture replaces it.
    """
    robot, settings, stance, time = problem.robot, problem.settings, problem.stance, problem.imitation.time
    place = problem.base_placement
    samples, lost = time_grids(time)[0], False
    draft = draft and settings.transfer == "path" and bool(problem.contact.any_hand.any())
    if draft and len(samples) < len(time):
        part = problem.at_samples(samples)
        guess = posture[samples], base[samples], joints[samples]
        found = _alternate(part, *guess, rounds, draft=False, bones=bones and part.bones)
        error, _ = measure_grip_error(robot, found.base, found.joints, found.hands, part.imitation.time)
        lost = rounds.start == 0 and error > _GRIP_LOST
        base = base + interpolate_change(time, samples, found.base - base[samples])
        joints = joints + interpolate_change(time, samples, found.joints - joints[samples])
        rounds = range(max(rounds.start, 1), rounds.stop)
    for number in rounds:
        problem.on_progress("transfer", 1 + number, 2 * BALANCE_ROUNDS)
        hands = plan_hands(robot, problem.imitation, posture, base, problem.contact)
        # The ZMP moves with the hands in contact as a person's does: the base placement says how far the COG
        # moves with the hands, and leans forward.
        moved = np.zeros((len(hands.share["left"]), 3))
        for side in SIDES:
            palm, touching = hands.actor[side][:, :3, 3], hands.contact[side]
            if touching.any():
                low, high = palm[touching].min(axis=0), palm[touching].max(axis=0)
                # Before and after contact as at its first and last sample.
                first, last = np.flatnonzero(touching)[[0, -1]]
                offset = palm[np.arange(len(palm)).clip(first, last)] - 0.5 * (low + high)
                moved += 0.5 * hands.share[side][:, None] * offset
        weight = np.maximum(hands.share["left"], hands.share["right"])[:, None]
        ahead = np.array([np.cos(place.heading), np.sin(place.heading)])
        along = place.follow * moved[:, :2] + place.advance * moved[:, 2:] * ahead
        cog = zmp = np.asarray(stance.target + along + weight * place.lean * ahead)
        if lost:
            break
        # Without embedding the COG is over the ZMP itself.
        if problem.embedding:
            at, _ = robot_time(problem, joints)
            resistance = problem.equipment.resistance
            wrench = None
            if resistance:
                loads = hand_wrenches(at, hands, resistance).values()
                wrench = np.asarray(sum(loads, np.zeros((len(at), 6))))
            cog = compute_balancing_cog(robot, at, base, joints, zmp, wrench)
        path, joints = PreferredPath(time, posture, base, *problem.limits), joints.copy()
        if settings.transfer == "path":
            arms = transfer_path(robot, path, hands, joints[:, problem.columns] if number else None, bones)
        else:
            arms = transfer_frames(robot, path, hands, (settings.smoothing_window, settings.smoothing_order))
        joints[:, problem.columns], previous = arms, base
        base, joints = solve_com_ik(
            robot,
            stance,
            joints,
            cog,
            problem.pelvis_height,
            turn=problem.pelvis_turn,
            start=base,
            embedding=problem.embedding,
        )
        if np.abs(base - previous).max() < _CONVERGED:
            break
    return WholeBodyMotion(base, joints, posture, hands, zmp)


def robot_time(problem: WholeBodyProblem, joints: Array) -> tuple[Array, float]:
    """Find the robot's time (T,), s, of each sample at which speed limits of joints (T, n), rad, hold.

    It is that of the problem's tempo, else all is slowed by one factor. The second value is the ratio of the
    durations, 1 or more.
    """
    time = problem.imitation.time
    if problem.tempo is not None:
        mapped = problem.tempo(time)
        # A cubic spline through stretched samples is not quite the stretched spline.
        mapped = mapped * time_scaling_factor(mapped, joints, problem.speed_limit)
        return mapped, float((mapped[-1] - mapped[0]) / (time[-1] - time[0]))
    factor = 1.0
    if problem.settings.timing != "preserve":
        factor = max(time_scaling_factor(time, joints, problem.speed_limit), problem.least_slow_down)
    return time * factor, factor


def separate_links(
    problem: WholeBodyProblem, base: Array, joints: Array, obstacles: Sequence[Obstacle]
) -> WholeBodyMotion | None:
    """Move trunk and arms clear of the robot's own links and of obstacles; held palms keep their poses.

    Obstacles are at rest, or with a pose at each of the T samples of root poses (T, 7) and joints (T, n). The
    result is None if nothing was too near. Free arms are led round the body where a person's arms pass
    through the place of the robot's.
    """
    robot, time, limits = problem.robot, problem.imitation.time, problem.limits
    arms, contact = joints[:, problem.columns], problem.contact
    palms = {
        robot.frames[f"{side}_hand"]: (contact.share[side] == 1.0, contact.turn_axes[side]) for side in SIDES
    }
    shapes = body_shapes(robot, problem.stance.joints, problem.equipment.handles)
    shapes, legs = release_legs(robot, shapes, base, joints)
    free = not contact.any_hand.any()
    margin = _FREE_CLEARANCE if free else _CLEARANCE
    around = (*obstacles, *legs)
    clear, missing = avoid_collisions(shapes, time, arms, base, np.stack(limits), margin, palms, around)
    blocked = missing > margin
    if free and blocked.any():
        shapes, bent = body_shapes(robot, problem.stance.joints), clear
        clear, velocity, end = bent.copy(), np.gradient(bent, time, axis=0), -1
        for at in np.flatnonzero(blocked):
            if at <= end:
                continue
            start, end = np.searchsorted(time, (time[at] - _ROUND_TIME, time[at] + _ROUND_TIME)).tolist()
            end = min(end, len(time) - 1)
            # The arms pass through it at a speed at which nothing is left to bend: a path past it is made
            # anew.
            ends = [[bent[each], velocity[each], np.zeros(bent.shape[1])] for each in (start, end)]
            path = BPoly.from_derivatives(time[[start, end]], ends)(time[start : end + 1])
            path = np.clip(path, *limits)
            clear[start : end + 1] = clear_path(shapes, path, _FREE_CLEARANCE, limits)
    if np.array_equal(clear, arms):
        return None
    # The separated posture is preferred from now on.
    joints = joints.copy()
    joints[:, problem.columns] = clear
    return _alternate(problem, clear, base, joints, range(BALANCE_ROUNDS, 2 * BALANCE_ROUNDS))


def blend_into_reach(
    robot: Robot,
    base_placement: BasePlacement,
    legs_posture: str,
    handles: Mapping[str, HandlePath],
    time: Array,
    posture: Array,
    names: tuple[str, ...],
    hands: HandPlan,
    likely: NominalPosture | None = None,
) -> tuple[Array, Array]:
    """Blend a posture (T, n), rad, while hands hold, into one with the whole handle path within reach.

    Base placement finds a posture for each pose of the handles' path. Their mean is the new preference, since
    it does not move; they themselves are the initial guess: both are returned, (T, n), rad. `names` are the
    joints of the posture, `legs_posture` gives legs and head, `likely` is as in `evaluate_placement`. It is a
    `RetargetError` if the equipment is out of reach from there.
    """
    nearest = nearest_poses(handles, hands)
    # The ends of the path where no hand went are left out; a closed path is kept whole.
    if not any(len(each.poses) > 1 and np.allclose(*each.poses[[0, -1]]) for each in handles.values()):
        first, end = nearest.min(), nearest.max() + 1
        nearest = nearest - first
        handles = {
            side: replace(each, poses=each.poses[first:end]) if len(each.poses) > 1 else each
            for side, each in handles.items()
        }
    reached = evaluate_placement(robot, handles, base_placement, legs_posture, likely=likely).placement
    if not reached.feasible:
        raise RetargetError(
            f"{robot.name}: out of reach: {reached.fault}; let robot.place be auto, or change "
            "robot.position_m, the fixture's place or the task"
        )
    # Joints that no group names, such as the fingers of a gripper, are not placed and keep their posture.
    moved = [column for column, name in enumerate(names) if name in reached.joint_names]
    found = reached.joints[:, [reached.joint_names.index(names[column]) for column in moved]]
    weight = near_contact(time, np.any(list(hands.contact.values()), axis=0), _BLEND_TIME)[:, None]
    preferred, start = posture.copy(), posture.copy()
    preferred[:, moved] += weight * (found.mean(axis=0) - posture[:, moved])
    start[:, moved] += weight * (_smooth(time, found[nearest], order=2) - posture[:, moved])
    return preferred, start


def nearest_poses(handles: Mapping[str, HandlePath], hands: HandPlan) -> NDArray[np.int64]:
    """Find the poses (T,) of the handles' common path that are nearest to the hands.

    Before and after contact they are as at its first and last sample.
    """
    count = max(len(handle.poses) for handle in handles.values())
    total = np.zeros((len(next(iter(hands.share.values()))), count))
    for side, handle in handles.items():
        apart = hands.actor[side][:, None, :3, 3] - handle.poses[None, :, :3, 3]
        total += np.where(hands.contact[side][:, None], (apart**2).sum(axis=2), 0.0)
    held = np.any([hands.contact[side] for side in handles], axis=0)
    samples = np.flatnonzero(held)
    last = len(samples) - 1
    return total.argmin(axis=1)[samples[np.searchsorted(samples, np.arange(len(held))).clip(0, last)]]


def _smooth(time: Array, values: Array, order: int) -> Array:
    """Smooth values (T, ...) over `_SMOOTHING_WINDOW` (Savitzky-Golay), unless they are too few."""
    window = round(_SMOOTHING_WINDOW * (len(time) - 1) / (time[-1] - time[0])) // 2 * 2 + 1
    return np.asarray(savgol_filter(values, window, order)) if order + 1 < window <= len(time) else values


def measure_grip_error(
    robot: Robot, base: Array, joints: Array, hands: HandPlan, time: Array
) -> tuple[float, float]:
    """Measure by how much the planned palms miss their handles in contact: distance, m, and its time, s.

    Root poses are (T, 7) in the world frame, (T, 0) for a fixed base, which stands where the model says
    (`placed_robot`); joints are (T, n), rad.
    """
    model, data = robot.model, robot.model.createData()
    worst, when = 0.0, 0
    for side, touching in hands.contact.items():
        frame = model.getFrameId(robot.frames[f"{side}_hand"])
        for sample in np.flatnonzero(touching).tolist():
            pin.framesForwardKinematics(model, data, np.concatenate([base[sample], joints[sample]]))
            error = float(np.linalg.norm(data.oMf[frame].translation - hands.actor[side][sample, :3, 3]))
            if error > worst:
                worst, when = error, sample
    return worst, float(time[when])


def require_leg_limits(robot: Robot, joints: Array) -> None:
    """Raise `LegReachError`, which names the joint, if positions (T, n), rad, leave a leg's joint limits."""
    for column in np.concatenate([leg_columns(robot, side) for side in SIDES]):
        low = robot.model.lowerPositionLimit[7 + column]
        high = robot.model.upperPositionLimit[7 + column]
        values = joints[:, column]
        if values.min() < low or values.max() > high:
            raise LegReachError(
                f"{robot.name}: keeping balance needs {robot.joint_names[column]} between "
                f"{values.min():.3f} and {values.max():.3f} rad, its limits are {low:.3f} and {high:.3f}"
            )


def compute_pelvis_height(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    base_placement: BasePlacement,
    section: RobotSection,
    share: Mapping[str, Array],
) -> Array:
    """Compute the height (T,), m, of a pelvis that moves up and down as the person's does, above its nominal.

    The person's displacement from their initial configuration is scaled by the ratio of shoulder heights and
    bounded smoothly by the heights that the legs allow. It is the recorded pelvis': the scaled model's root
    would lift the robot with the person's shoulder girdle, and shake it where arms are straight. Without a
    recorded pelvis it is the root's. Where hands go to equipment, by the blend weight `share`, it fades out:
    there the stance is that of the base placement. It also fades at both ends, where the robot comes from
    rest and goes to it. A seated robot's pelvis does not move.
    """
    shoulders = [motion.initial.joints[f"{side}_shoulder"][2] for side in SIDES]
    if min(shoulders) < _MIN_SHOULDER_HEIGHT or section.posture == SEATED:
        return np.zeros(len(motion.time))
    data = robot.model.createData()
    stance = stand(robot, (0.0, 0.0), 0.0, section.posture)
    pin.framesForwardKinematics(robot.model, data, np.concatenate([stance.base, stance.joints]))
    robot_shoulder = data.oMf[robot.model.getFrameId(robot.frames["left_shoulder"])].translation[2]
    if "pelvis" in motion.joints and "pelvis" in motion.initial.joints:
        moved = motion.joints["pelvis"][:, 2] - motion.initial.joints["pelvis"][2]
        # Of fourth order: a dance's ups and downs, of half a second, stay whole.
        moved = _smooth(motion.time, moved, order=4)
    else:
        moved = imitation.q[:, 2] - imitation.actor.q[2]
    scaled = moved * robot_shoulder / float(np.mean(shoulders))
    low, high = (end - base_placement.height for end in height_range(robot, section.posture))
    room = _LEG_RANGE_FRACTION * np.array([low, high])
    limit = np.maximum(np.abs(np.where(scaled < 0.0, *room)), 1e-9)
    time, fade = motion.time, min(_FADE_TIME, 0.25 * float(motion.time[-1]))
    ends = minimum_jerk(time, 0.0, fade) * minimum_jerk(time[-1] - time, 0.0, fade)
    bounded = limit * np.tanh(scaled / limit)
    return np.asarray(bounded * ends * (1.0 - np.maximum(share["left"], share["right"])))


def compute_pelvis_turn(robot: Robot, motion: HumanMotion) -> Array | None:
    """Compute the turn of a pelvis that leans as the person's trunk does: rotation vectors (T, 3), rad.

    It is that of the line from hips to shoulders against the vertical, in the axes of the recording, bounded
    smoothly, without a turn about the vertical. Upside down there is none. At both ends, where the robot
    comes from rest and goes to it, it is upright. Accelerations, which shift the ZMP, are bounded. None if
    hips are not recorded, samples are too few, or the waist leans by itself.
    """
    names = [f"{side}_{part}" for side in SIDES for part in ("shoulder", "hip")]
    jacobian = pin.computeJointJacobians(robot.model, robot.model.createData(), pin.neutral(robot.model))
    waist = [robot.root_v + robot.joint_names.index(name) for name in robot.groups.get("trunk", ())]
    leans = (np.linalg.norm(jacobian[3:5, waist], axis=0) > _LEANS).any()
    if leans or len(motion.time) < LEAST_KNOTS or not all(name in motion.joints for name in names):
        return None
    left_shoulder, left_hip, right_shoulder, right_hip = (motion.joints[name] for name in names)
    trunk = left_shoulder + right_shoulder - left_hip - right_hip
    trunk /= np.linalg.norm(trunk, axis=1, keepdims=True)
    lean = np.stack([-trunk[:, 1], trunk[:, 0], np.zeros(len(trunk))], axis=1)
    lean = _smooth(motion.time, lean, order=4)
    sine = np.maximum(np.linalg.norm(lean, axis=1), 1e-9)
    lean *= (_MOST_LEAN * np.tanh(sine / _MOST_LEAN) / sine)[:, None]
    # At both ends it sets in without a step, from exactly upright.
    time, speed = motion.time, np.full(len(lean), _LEAN_SPEED)
    through = minimum_jerk(time, 0.0, float(time[-1]))
    onset = minimum_jerk(time, 0.0, _LEAN_ONSET) * minimum_jerk(time[-1] - time, 0.0, _LEAN_ONSET)
    for axis in range(2):
        kept = keep_height_tempo(time, lean[:, axis], speed, _LEAN_ACCELERATION * np.maximum(onset, 0.02))
        lean[:, axis] = kept - (1.0 - through) * kept[0] - through * kept[-1]
    return lean


def hand_wrenches(time: Array, hands: HandPlan, resistance: Mapping[str, Resistance]) -> dict[str, Array]:
    """Estimate the wrench (T, 6) of the equipment on each hand that moves it, in the world frame.

    With x the path of a palm in contact, the force, N, is f = −(F s + d ẋ + m ẍ). The friction's direction s
    follows the displacement, ds = dx / 1 mm with ‖s‖ ≤ 1, and stays when the hand rests. The moment, N·m, is
    about the world's origin.
    """
    wrenches = {}
    for side, (dry, viscous, mass) in resistance.items():
        palm, held = hands.actor[side][:, :3, 3], hands.contact[side]
        steps = np.where((held[1:] & held[:-1])[:, None], np.diff(palm, axis=0), 0.0)
        path = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
        friction = np.zeros_like(path)
        x = y = z = 0.0
        for sample, (dx, dy, dz) in enumerate((steps / _PRESLIDING_DISPLACEMENT).tolist(), start=1):
            x, y, z = x + dx, y + dy, z + dz
            length = max(1.0, math.sqrt(x * x + y * y + z * z))
            friction[sample] = x, y, z = x / length, y / length, z / length
        velocity = np.gradient(path, time, axis=0)
        acceleration = np.gradient(velocity, time, axis=0)
        force = -(dry * friction + viscous * velocity + mass * acceleration)
        force[~held] = 0.0
        wrenches[side] = np.hstack([force, np.cross(palm, force)])
    return wrenches


def inertia_onset(time: Array) -> Array:
    """Part (T,), 0 to 1, of a motion's inertia that counts for the ZMP.

    It is none at both ends, where leads are not known yet.
    """
    clock, duration = time - time[0], _INERTIA_ONSET_TIME
    return np.asarray(minimum_jerk(clock, 0.0, duration) * minimum_jerk(clock[-1] - clock, 0.0, duration))


def compute_balancing_cog(
    robot: Robot, time: Array, base: Array, joints: Array, zmp: Array, wrench: Array | None
) -> Array:
    """Compute the COG path (T, 2), m, of a motion for which the ZMP is the desired `zmp` (T, 2), world frame.

    The linear inverted pendulum gives the COG offset for the difference between desired and planned ZMP. At
    both ends, where it is not yet known how the robot gets into motion and to rest, inertia does not count
    and the COG is at rest near the desired ZMP: there it is the pendulum's whole COG, for the desired ZMP
    less what the pendulum does not know of (angular momentum, and the wrench of the equipment on the hands,
    the sum of `hand_wrenches`), and not the given one with an offset, which may be moving.
    """
    moving = inertia_onset(time)
    planned, cog = planned_zmp(robot, time, base, joints, wrench, moving)
    height = float(cog[:, 2].mean())
    shifted = cog[:, :2] + lipm_com_offset(time, zmp - planned, height)
    acceleration = np.gradient(np.gradient(cog[:, :2], time, axis=0), time, axis=0) * moving[:, None]
    unknown = planned - cog[:, :2] + acceleration / natural_frequency(height) ** 2
    resting = lipm_com_offset(time, zmp - unknown, height)
    return zmp + _saturate(resting + moving[:, None] * (shifted - resting) - zmp)


def solve_legs_for_zmp(
    robot: Robot, stance: Stance, time: Array, base: Array, joints: Array, zmp: Array, free: Array
) -> tuple[Array, Array]:
    """Move legs and pelvis so that the ZMP (T, 2), m, is as desired, in part where hands are not free.

    The motion starts and ends at rest; the soles of the stance stay. The correction has the weight `free`
    (T,), 0 where hands are with equipment, which the pelvis would take them away from, up to 1. Returns root
    poses (T, 7) in the world frame and joints (T, n), rad, with corrected legs; raises as `solve_com_ik`.
    """
    planned, cog = planned_zmp(robot, time, base, joints)
    weight = free[:, None]
    sway = weight * lipm_com_offset(time, weight * (zmp - planned), float(cog[:, 2].mean()))
    turned = (Rotation.from_quat(base[:, 3:]) * Rotation.from_quat(stance.base[3:]).inv()).as_rotvec()
    turn = turned if (base[:, 3:] != stance.base[3:]).any() else None
    height = base[:, 2] - stance.base[2]
    return solve_com_ik(robot, stance, joints, cog[:, :2] + _saturate(sway), height, turn=turn)


def _saturate(offset: Array) -> Array:
    """Bound a COG offset smoothly by what legs and soles can do: motions that need more make robots fall."""
    beyond = np.maximum(np.abs(offset) - _LINEAR_RANGE, 0.0)
    room = _MAX_OFFSET - _LINEAR_RANGE
    bounded = np.minimum(np.abs(offset), _LINEAR_RANGE) + room * np.tanh(beyond / room)
    return np.asarray(np.sign(offset) * bounded)
