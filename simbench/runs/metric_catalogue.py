"""Definitions of the metrics that a run produces."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simbench.runs.fidelity_catalogue import FidelityText, error_texts, footstep_texts, tempo_texts
from simbench.runs.metric_format import unit_of
from simbench.runs.tolerances import RELATIVE, SPREADS, Better, metric_direction, usual_tolerance

SETTLED = "samples after `settle_s`"
_ALL = "all samples"
_PHYSICS = "every physics step"
_PLAN = "samples of the recording, before the simulation"
_TEMPO = _PLAN + ", with `retarget.timing: preserve` or `retarget.physics: steps`"
_CONTACT = "samples at which the actor's hand is in contact, for each such hand"
_STILL = "samples in the second half of `settle_s`"
_EVENTS = "contact events"
_FOLLOWED = "samples of the trajectory, from its first to its last"
_RECORDED = "samples of the recording, at the robot's time"
_FILE = "samples of the trajectory, before the simulation"


class MetricEntry(NamedTuple):
    """Everything that the reference says about a metric."""

    name: str  # Name of the metric, or a pattern with `<fixture>` and `<joint>`.
    definition: str  # What it is, with its formula.
    unit: str  # Unit; empty for a plain number.
    kind: str  # `number`, `true or false`, or `name`.
    samples: str  # Samples it is taken over.
    # Direction in which it improves: `lower`, `higher`, `same` (every change counts as worse) or `ignored`.
    better: Better
    tolerance: str  # Usual allowed difference from a baseline.
    advice: str  # Why it matters, and what to do about a bad value.
    # Variables and attributes of the log from which it is computed; empty if it comes from the plan.
    variables: tuple[str, ...]
    present: str  # When a run has this metric.


class _Text(NamedTuple):
    """What is written by hand about a metric; the rest follows from its name."""

    name: str
    definition: str
    samples: str
    variables: str
    advice: str
    kind: str = "number"


class _Group(NamedTuple):
    """Metrics that a run has together."""

    present: str
    metrics: tuple[_Text, ...]


_BALANCED = "balanced robots: on two feet, not seated"
_NAME = "name"
_TRUTH = "true or false"
_FALL = (
    "A fall invalidates all other metrics of the run. Look at `zmp.min_margin_m` and the video before the "
    "moment of the fall; reduce the speed (`motion.speed`), or move the equipment nearer."
)


def _fidelity(present: str, texts: Sequence[FidelityText]) -> _Group:
    """Make a group of metrics of fidelity."""
    made = (_Text(each.name, each.definition, _RECORDED, each.variables, each.advice) for each in texts)
    return _Group(present, tuple(made))


_GROUPS: tuple[_Group, ...] = (
    _Group(
        "robots with a floating base",
        (
            _Text(
                "fell",
                "Whether the root link dropped below 0.7 times its height at the first sample. The run ends "
                "half a second after a fall.",
                _ALL,
                "base_pose",
                _FALL,
                _TRUTH,
            ),
            _Text(
                "fell_s",
                "Time of the first sample at which the root link was below 0.7 times its first height. It is "
                "absent if the robot did not fall.",
                _ALL,
                "base_pose",
                _FALL,
            ),
        ),
    ),
    _Group(
        "robots on their feet",
        (
            _Text(
                "zmp.inside_fraction",
                "Fraction of the samples at which the ZMP is inside the support polygon: the mean of "
                "(`zmp_margin` > 0). The support polygon is the convex hull of the points where the feet "
                "touch the floor.",
                SETTLED,
                "zmp_margin",
                "1 for a robot that stands firmly. Lower values mean that it tips about an edge of a sole; "
                "see `zmp.min_margin_m`.",
            ),
            _Text(
                "zmp.min_margin_m",
                "Least signed distance of the ZMP from the edge of the support polygon: min(`zmp_margin`). "
                "It is positive inside, negative outside, and −∞ without contact with the floor.",
                SETTLED,
                "zmp_margin",
                "The reserve of balance. Near zero, a small disturbance tips the robot: slow the motion down "
                "(`motion.speed`), let the COG follow the hands (`retarget.pelvis_follow`), or lower the "
                "equipment's friction.",
            ),
            _Text(
                "feet.slip_m",
                "Largest horizontal displacement of a foot on the floor: max ‖x − x₀‖ of the frame of a foot "
                "while it carries at least a tenth of the weight; x₀ is where it was put down, or stood "
                "after settling. It is `none` if no foot carries the robot.",
                SETTLED,
                "foot_pose, foot_wrench, mass_kg, gravity_m_s2",
                "A robot can slide or turn as a whole without falling. More than some millimetres: slow the "
                "motion down (`motion.speed`), or raise `simulation.floor_friction`.",
            ),
            _Text(
                "feet.turn_rad",
                "Largest rotation of a foot about the vertical while it carries at least a tenth of the "
                "weight, from where it was put down. It is `none` if no foot carries the robot.",
                SETTLED,
                "foot_pose, foot_wrench, mass_kg, gravity_m_s2",
                "As `feet.slip_m`: fast swings of the arms or of a leg twist the soles on the floor.",
            ),
            _Text(
                "zmp.still_difference_rms_m",
                "RMS distance between the ZMP from the contact forces and the ZMP from momentum, while the "
                "robot stands still: √mean ‖`zmp` − `zmp_from_momentum`‖². It is absent if no sample lies in "
                "that time.",
                _STILL,
                "zmp, zmp_from_momentum, settle_s",
                "A check of the simulation, not of the robot: both computations must agree at rest. A large "
                "value means that contacts chatter; reduce `simulation.timestep_s` or the joint gains.",
            ),
            _Text(
                "feet.still_load_error_fraction",
                "Largest relative difference between the vertical load on the feet and the weight, while the "
                "robot stands still: max |F_z / (m g) − 1|. It is absent if no sample lies in that time.",
                _STILL,
                "foot_wrench, mass_kg, gravity_m_s2, settle_s",
                "A check of the simulation: at rest the floor carries the weight. A large value means that "
                "the robot has not settled; increase `simulation.settle_s`, or check the stiffness of the "
                "legs.",
            ),
            _Text(
                "cog.max_excursion_m",
                "Largest horizontal distance of the COG from its position at the end of settling: "
                "max ‖c_xy(t) − c_xy(`settle_s`)‖.",
                SETTLED,
                "cog",
                "Shows how far the body sways or walks. For a robot that stands it must stay well inside the "
                "support polygon.",
            ),
        ),
    ),
    _Group(
        _BALANCED,
        (
            _Text(
                "cog.rms_m",
                "RMS horizontal distance of the COG from the desired COG: √mean ‖c_xy − c_d‖².",
                SETTLED,
                "cog, cog_desired",
                "Tracking error of balance. If it is large, check that `balance.embedding` is on and that "
                "the joint torques are not saturated (`torque.saturated_fraction`).",
            ),
            _Text(
                "zmp.rms_m",
                "RMS distance of the ZMP from the desired ZMP: √mean ‖p − p_d‖²; samples without ground "
                "contact are left out.",
                SETTLED,
                "zmp, zmp_desired",
                "The ZMP reacts to accelerations, so it is noisier than the COG. A large value at a small "
                "`cog.rms_m` means impacts of the feet or contacts that chatter.",
            ),
            _Text(
                "base.forward_m",
                "Displacement of the root link from the first to the last sample, along its initial heading.",
                _ALL,
                "base_pose",
                "For a walk: compare it with the commanded distance (`stepping.commands`). For a robot that "
                "stands it shows how far the pelvis ends from where it began.",
            ),
            _Text(
                "base.left_m",
                "Displacement of the root link from the first to the last sample, to the left of its initial "
                "heading.",
                _ALL,
                "base_pose",
                "As `base.forward_m`, sideways.",
            ),
            _Text(
                "base.turn_rad",
                "Rotation of the root link about the vertical from the first to the last sample, positive to "
                "the left; whole turns are counted.",
                _ALL,
                "base_pose",
                "Compare it with the commanded turn. A difference means that the soles slip.",
            ),
            _Text(
                "steps.count",
                "Number of steps taken: planned swings in which the foot was off the floor midway, and "
                "touched it at the planned landing or within 0.1 s after it.",
                _ALL,
                "contact_planned, foot_points",
                "Fewer steps than planned: a foot never left the floor, or landed too late. Increase "
                "`stepping.lift_m` or the durations of support.",
            ),
            _Text(
                "balance.gave_up",
                "Whether the balance controller had no solution at some tick; from there on the last posture "
                "is held.",
                _ALL,
                "balance_gave_up_s",
                "A leg became straight or a joint would have left its range. Stand with knees more bent, "
                "shorten the steps, or reduce the reach.",
                _TRUTH,
            ),
        ),
    ),
    _Group(
        "robots that sit",
        (
            _Text(
                "seat.least_force_n",
                "Least vertical load on the seat.",
                SETTLED,
                "<fixture>_contact_wrench, seat",
                "Near zero, the robot lifts off the seat: move the equipment nearer or lower its resistance.",
            ),
            _Text(
                "seat.mean_force_n",
                "Mean vertical load on the seat; the feet carry the rest of the weight.",
                SETTLED,
                "<fixture>_contact_wrench, seat",
                "A change shows that the posture or the height of the seat differs.",
            ),
            _Text(
                "seat.slip_m",
                "Largest displacement of the pelvis from its position at the end of settling.",
                SETTLED,
                "base_pose",
                "The robot slides on the seat: reduce the forces on the hands, or increase "
                "`simulation.settle_s` if it still moves when the motion begins.",
            ),
            _Text(
                "seat.tilt_rad",
                "Largest rotation of the pelvis from its orientation at the end of settling: "
                "2 arccos |q · q₀|.",
                SETTLED,
                "base_pose",
                "As `seat.slip_m`: a large tilt means that the robot tips on its seat.",
            ),
        ),
    ),
    _Group(
        "runs that follow a robot's trajectory",
        (
            _Text(
                "trajectory.joint_error_rms_rad",
                "RMS difference of the joint positions from those of the file, without the fingers: "
                "√mean (q − q_file)². It includes what the plan changed: legs of level feet, bent knees, and "
                "the COG of a ZMP that the soles can carry; `tracking.rms_rad` does not.",
                _FOLLOWED,
                "joint_position, joint_trajectory, is_grip",
                "How much of the motion is left. Large next to `tracking.rms_rad`: the file asks for what "
                "level feet on the floor cannot do; read the doubts of the run.",
            ),
            _Text(
                "trajectory.joint_error_max_rad",
                "Largest difference of a joint position from that of the file, without the fingers.",
                _FOLLOWED,
                "joint_position, joint_trajectory, is_grip",
                "Usually an ankle of a foot that rolls over heel and toe in the file, or a straight knee.",
            ),
        ),
    ),
    _Group(
        "runs on free feet that follow a robot's trajectory",
        (
            _Text(
                "trajectory.base_error_mean_m",
                "Mean horizontal distance of the root from where the file has it.",
                _FOLLOWED,
                "base_pose, base_trajectory, joint_trajectory",
                "Some millimetres of sway are the balance controller's. Growing with time: feet slip or turn "
                "(`feet.slip_m`, `feet.turn_rad`).",
            ),
            _Text(
                "trajectory.base_error_max_m",
                "Largest horizontal distance of the root from where the file has it.",
                _FOLLOWED,
                "base_pose, base_trajectory, joint_trajectory",
                "As `trajectory.base_error_mean_m`.",
            ),
            _Text(
                "trajectory.height_error_max_m",
                "Largest difference of the root's height from the file's.",
                _FOLLOWED,
                "base_pose, base_trajectory, joint_trajectory",
                "`trajectory.lowered_m` is part of it.",
            ),
            _Text(
                "trajectory.heading_error_mean_rad",
                "Mean difference of the root's rotation about the vertical from the file's.",
                _FOLLOWED,
                "base_pose, base_trajectory, joint_trajectory",
                "The soles turn on the floor: see `feet.turn_rad`.",
            ),
            _Text(
                "trajectory.heading_error_max_rad",
                "Largest difference of the root's rotation about the vertical from the file's.",
                _FOLLOWED,
                "base_pose, base_trajectory, joint_trajectory",
                "As `trajectory.heading_error_mean_rad`.",
            ),
            _Text(
                "trajectory.contact_agreement_fraction",
                "Fraction of samples and feet at which a foot carries at least a tenth of the weight if and "
                "only if it stands in the file.",
                _FOLLOWED,
                "foot_wrench, contact_trajectory, joint_trajectory, mass_kg, gravity_m_s2",
                "About 0.95 for a walk: a foot is unloaded just before it lifts and just after it lands. "
                "Much less: steps were missed, or the file has both feet off the floor.",
            ),
            _Text(
                "trajectory.foot_error_mean_m",
                "Mean horizontal distance of a foot that stands from where it stands in the file.",
                _FOLLOWED,
                "foot_pose, foot_trajectory, foot_wrench, contact_trajectory, joint_trajectory, mass_kg, "
                "gravity_m_s2",
                "Feet that slide in the file (`trajectory.foot_slide_m`) are held and appear here.",
            ),
            _Text(
                "trajectory.foot_error_max_m",
                "Largest horizontal distance of a foot that stands from where it stands in the file.",
                _FOLLOWED,
                "foot_pose, foot_trajectory, foot_wrench, contact_trajectory, joint_trajectory, mass_kg, "
                "gravity_m_s2",
                "As `trajectory.foot_error_mean_m`.",
            ),
            _Text(
                "trajectory.floor_shift_m",
                "What was added to the height of the root so that the soles stand on the floor.",
                _FILE,
                "",
                "A constant offset of the file's floor is harmless. Several centimetres may mean that the "
                "file is of another robot.",
            ),
            _Text(
                "trajectory.lowered_m",
                "Distance by which the COG is planned lower than in the file, so that legs with level feet "
                "reach the floor with bent knees.",
                _FILE,
                "",
                "Straight knees and feet that roll over the toes make it necessary.",
            ),
            _Text(
                "trajectory.foot_slide_m",
                "Largest horizontal distance of a flat foot on the floor, in the file, from the place where "
                "it is planned to stand.",
                _FILE,
                "",
                "Feet of the file that slide on the floor; the planned ones do not.",
            ),
            _Text(
                "trajectory.flight_s",
                "Time for which the file has both feet off the floor.",
                _FILE,
                "",
                "The robot is not planned to jump or run, and may fall there.",
            ),
        ),
    ),
    _Group(
        "every run",
        (
            _Text(
                "tracking.rms_rad",
                "RMS joint position error over samples and joints, without the fingers: √mean (q − q_ref)². "
                "Prismatic joints count in m.",
                SETTLED,
                "joint_position, joint_reference, is_grip",
                "Quality of the joint control. Increase the gains (robot.yaml `gains`), choose "
                "`control.feedforward: inverse_dynamics`, or slow the motion down.",
            ),
            _Text(
                "tracking.max_rad",
                "Largest absolute joint position error, without the fingers: max |q − q_ref|.",
                SETTLED,
                "joint_position, joint_reference, is_grip",
                "One bad moment of one joint. `simbench report` shows which; a saturated torque is the usual "
                "cause.",
            ),
            _Text(
                "tracking.arms_rms_rad",
                "RMS joint position error of the arms. It is absent if the robot has no group `left_arm` or "
                "`right_arm`.",
                SETTLED,
                "joint_position, joint_reference, is_arm",
                "As `tracking.rms_rad`, for the joints that move the equipment.",
            ),
            _Text(
                "limits.position_violation_rad",
                "Largest excess of a joint over its position limits; 0 if there is none.",
                _PHYSICS,
                "lowest_position, highest_position, position_lower, position_upper",
                "A real robot would hit its end stop. Increase `retarget.joint_limit_margin_rad`; fingers "
                "that a handle forces open also appear here.",
            ),
            _Text(
                "limits.speed_ratio",
                "Largest ratio of a joint's speed to its speed limit: max |q̇| / q̇_max.",
                _PHYSICS,
                "highest_speed, speed_limit",
                "Above 1 the limit is violated. Reduce `motion.speed` or `retarget.speed_limit_fraction`.",
            ),
            _Text(
                "limits.torque_ratio",
                "Largest ratio of a motor torque to its limit: max |τ| / τ_max. Torques are limited at every "
                "step, so it is at most 1.",
                _ALL,
                "torque_motor, torque_limit",
                "At 1 a motor is saturated: see `torque.saturated_fraction`.",
            ),
            _Text(
                "torque.saturated_fraction",
                "Fraction of all joints' physics steps in which the requested torque exceeded the limit and "
                "was reduced to it.",
                _PHYSICS,
                "saturated_fraction",
                "Saturated motors do not follow their reference. Reduce the speed, the equipment's "
                "resistance, or the gains if the torque alternates between its limits.",
            ),
            _Text(
                "torque.rms_nm",
                "RMS motor torque over samples and joints, without the fingers: √mean τ².",
                SETTLED,
                "torque_motor, is_grip",
                "Effort of the whole robot; compare it between motions or robots.",
            ),
            _Text(
                "torque.arms_rms_nm",
                "RMS motor torque over samples and the joints of the arms. It is absent if the robot has no "
                "group `left_arm` or `right_arm`.",
                SETTLED,
                "torque_motor, is_arm",
                "Effort of the arms; it grows with the equipment's resistance and with the grip's stiffness.",
            ),
            _Text(
                "contact.peak_force_n",
                "Largest contact force: the largest sum of normal forces between two links at one sample; 0 "
                "without contacts.",
                _EVENTS,
                "contact_peak_force",
                "An impact. It is chaotic: small changes of the motion change it by 10 % and more, which its "
                "baseline's spread allows for.",
            ),
            _Text(
                "contact.self_count",
                "Number of contacts between two links of the robot.",
                _EVENTS,
                "contact_first, contact_second, robot",
                "The robot touches itself. See `retarget.interference_count` for contacts that the plan "
                "already has; otherwise the tracking error is too large.",
            ),
            _Text(
                "contact.floor_unintended_count",
                "Number of contacts of the robot with the floor by links other than the feet.",
                _EVENTS,
                "contact_first, contact_second, robot, foot_links",
                "Usually the consequence of a fall.",
            ),
            _Text(
                "contact.equipment_unintended_count",
                "Number of contacts of the robot with equipment by links other than the hands or, on the "
                "seat, the thighs.",
                _EVENTS,
                "contact_first, contact_second, robot, hand_links, thigh_links, seat",
                "The forearms or the body hit the equipment. Move the robot or the equipment; "
                "`contact_first` and `contact_second` of the log name the links.",
            ),
        ),
    ),
    _Group(
        "runs in which an actor's hand is in contact with equipment",
        (
            _Text(
                "hands.rms_m",
                "RMS distance of the palms from the actor's palms: √mean ‖x_palm − x_actor‖². It is `none` "
                "at equipment that no hand of the person touches: nothing to measure.",
                _CONTACT,
                "palm_position, palm_actor, hand_contact",
                "How exactly the robot's hands repeat the person's. Large values at a small "
                "`retarget.hand_max_m` come from the control, not from the plan.",
            ),
            _Text(
                "hands.max_m",
                "Largest distance of a palm from the actor's palm: max ‖x_palm − x_actor‖.",
                _CONTACT,
                "palm_position, palm_actor, hand_contact",
                "As `hands.rms_m`, for the worst moment.",
            ),
            _Text(
                "grip.lost",
                "Number of grips that were overloaded and released their handle.",
                _PHYSICS,
                "grips_lost",
                "The grip's force exceeded `grip.max_force_n` or its torque `grip.max_torque_nm`. Reduce the "
                "equipment's resistance or the speed, or allow more in section `grip`.",
            ),
            _Text(
                "grip.held_fraction",
                "Fraction of the planned contact in which the grip was engaged.",
                _CONTACT,
                "grip_engaged, hand_contact",
                "Below 1 a hand came too late or too far from its handle (`grip.tolerance_m`), or its grip "
                "was lost.",
            ),
            _Text(
                "grip.max_force_n",
                "Largest force of a grip on the palm: max ‖f‖.",
                _ALL,
                "grip_wrench",
                "Compare it with the scenario's key `grip.max_force_n`, at which the grip releases. High "
                "values mean that the hand pulls against the equipment's path: see `hands.rms_m`.",
            ),
        ),
    ),
    _Group(
        "runs that follow a recording",
        (
            _Text(
                "retarget.hand_max_m",
                "Largest distance between the planned palm and the actor's palm in contact. A plan above "
                "20 mm (2 mm for a robot with a fixed base) is refused as out of reach.",
                _PLAN + ", in contact",
                "",
                "0 means that the plan reaches the equipment exactly. Otherwise move the robot "
                "(`robot.position_m`), or let simbench find a place: `robot.place: auto`.",
            ),
            _Text(
                "retarget.slow_down",
                "Ratio ≥ 1 of the robot's duration to the recording's: 1 where the recorded tempo is kept "
                "(`retarget.timing: preserve`), the mean of a local stretch (`local`), or one factor by "
                "which the whole motion is slowed (`uniform`) until all joint speeds are at most "
                "`retarget.speed_limit_fraction` of their limits, the legs can balance it, and, where hands "
                "hold nothing, it needs no more than 80 % of the motors' torques.",
                _PLAN + "; speeds at every 1 ms",
                "",
                "1 keeps the person's timing. A large factor comes from one fast joint: `simbench retarget` "
                "shows which; crop the recording (`motion.start_s`, `motion.end_s`) or move the robot.",
            ),
            _Text(
                "retarget.slow_down_max",
                "Greatest factor by which time is stretched anywhere, where `retarget.timing` is `local`; "
                "`retarget.slow_down` is the ratio of the durations then. It is left out otherwise.",
                _PLAN,
                "",
                "Far above `retarget.slow_down`, a short part of the motion is too fast for the robot. The "
                "run's notes name the limit that takes most of the time.",
            ),
            _Text(
                "retarget.stretched_fraction",
                "Part of the planned duration in which time is stretched by more than 1 %, where "
                "`retarget.timing` is `local`. It is left out otherwise.",
                _PLAN,
                "",
                "0 means that the robot keeps the person's tempo all of the time; 1 that the motion is too "
                "fast everywhere.",
            ),
            _Text(
                "retarget.path_scale",
                "Ratio of the displacements of a single arm's hand to the person's, in free motion.",
                _PLAN,
                "",
                "It is the ratio of the arms' lengths, or less where the arm has less room about its posture "
                "at rest: another `robot.posture` may have more.",
            ),
            _Text(
                "retarget.rotation_fraction",
                "Fraction of the rotations of the person's hand that a single arm's hand reproduces, in free "
                "motion: 1, 0.5 or 0.",
                _PLAN,
                "",
                "Rotations are reduced where joint limits, speeds or the arm's own links are in the way.",
            ),
            _Text(
                "retarget.smoothing_s",
                "Standard deviation, at the robot's pace, of the Gaussian that smoothed trunk and arms of a "
                "motion without equipment, because it needed more than 80 % of the motors' torques. It is "
                "left out where nothing was smoothed.",
                _PLAN,
                "",
                "Corners of joint curves cost torque: joint limits make them, and fast motions.",
            ),
            _Text(
                "retarget.tempo_limited_fraction",
                "Fraction of samples and joints of trunk and arms whose speed or acceleration is on its "
                "limit (98.5 % of what is used of it), at the recorded tempo.",
                _TEMPO,
                "",
                "Where joints are on their limits, amplitudes are smaller than the person's.",
            ),
            _Text(
                "retarget.tempo_speed_ratio",
                "Largest planned joint speed over the speed that may be used "
                "(`retarget.speed_limit_fraction` of the limit), at the recorded tempo.",
                _TEMPO,
                "",
                "Above 1, the legs are too fast: the pelvis' ups and downs and the sway of balance.",
            ),
            _Text(
                "retarget.tempo_acceleration_ratio",
                "Largest planned acceleration of a joint of trunk or arms over its estimated limit, at the "
                "recorded tempo. The legs' accelerations are limited by their torques.",
                _TEMPO,
                "",
                "The limit is (τ_max − gravity) / inertia in the worst posture of the limb.",
            ),
            _Text(
                "retarget.tempo_torque_ratio",
                "Largest planned joint torque over what may be used of the motor's: 80 %, or 10 % more than "
                "the weight needs in the same postures, at the recorded tempo; of trunk and arms alone where "
                "legs follow.",
                _TEMPO,
                "",
                "Above 1, no smaller amplitude was found that needs less.",
            ),
            _Text(
                "retarget.tempo_zmp_margin_m",
                "Least distance of the planned ZMP from the edge of the support polygon, at the recorded "
                "tempo; negative outside.",
                _TEMPO,
                "",
                "Below 15 mm the motion's accelerations are reduced around that moment.",
            ),
            _Text(
                "retarget.tempo_violation_fraction",
                "Fraction of the samples at which a speed, an acceleration, a torque or the ZMP is beyond "
                "what may be used, after all rounds of planning at the recorded tempo.",
                _TEMPO,
                "",
                "Above 0, the robot may not be able to follow there: use `retarget.timing: uniform`, or crop "
                "the recording.",
            ),
            _Text(
                "retarget.tempo_round_count",
                "Rounds of planning at the recorded tempo: trunk and arms, legs, torques and ZMP in turn.",
                _TEMPO,
                "",
                "The most is 10, or 6 where legs follow; a motion that needs so many is at the edge of what "
                "the robot can do.",
            ),
            _Text(
                "retarget.amplitude_lost_mean_rad",
                "Mean difference between the joint positions of trunk and arms and those that imitate the "
                "person without limits of speed, acceleration and torque.",
                _TEMPO,
                "",
                "What the recorded tempo costs: `retarget.timing: uniform` costs time instead.",
            ),
            _Text(
                "retarget.amplitude_lost_max_rad",
                "Largest of the differences of `retarget.amplitude_lost_mean_rad`.",
                _TEMPO,
                "",
                "A single fast movement, often of a joint that turns over near a singular posture.",
            ),
            _Text(
                "retarget.amplitude_lost_height_m",
                "Largest difference between the pelvis' height and the person's, scaled, at the recorded "
                "tempo.",
                _TEMPO,
                "",
                "Legs have limits of speed and torque, too.",
            ),
            _Text(
                "retarget.pelvis_height_m",
                "Height of the pelvis above its height in the posture, where simbench lowered it so that the "
                "legs can balance the motion. It is left out where the posture's own height serves.",
                _PLAN,
                "",
                "Give `robot.height_m`, or a posture with more bend in the knees.",
            ),
            _Text(
                "retarget.duration_s",
                "Duration of the planned motion after slowing down, without settling, lead-in and hold.",
                _PLAN,
                "",
                "It changes with `retarget.slow_down` and with the part of the recording that is used.",
            ),
            _Text(
                "motion.doubt_count",
                "Number of things about the recording that may well be wrong: the doubts of `simbench motion "
                "inspect`, such as limbs of lengths that nobody has, jumps, feet in the floor.",
                "samples of the recording as it was read",
                "",
                "All other metrics are about a robot that follows this recording, wrong or right. The doubts "
                "are printed before the run and are in `provenance.json`; `simbench motion inspect` shows "
                "where they come from.",
            ),
            _Text(
                "retarget.robot_hand_mean_m",
                "Mean distance of the robot's wrist, relative to its shoulder, from where it would be if its "
                "upper arm and forearm had the person's directions; both arms, joint limits kept. For an arm "
                "without human form: distance of the palm from the person's path, scaled by the ratio of the "
                "arms' lengths; on equipment, from the handle.",
                _PLAN,
                "",
                "It says how well the robot can do what the person did, which `imitation.hand_mean_m` does "
                "not: that one is the scaled model's, without limits. `simbench retarget` names the joints "
                "that stay at a limit. Where hands hold equipment, arms follow the handles.",
            ),
            _Text(
                "retarget.robot_hand_max_m",
                "Largest of the distances of `retarget.robot_hand_mean_m`.",
                _PLAN,
                "",
                "`simbench retarget` says when it is, and on which side.",
            ),
            _Text(
                "retarget.robot_hand_orientation_mean_rad",
                "Mean angle between the rotations of the robot's and the person's hands out of the initial "
                "posture, arms forward and palms down, in the robot's heading. It is absent if no hand "
                "orientation was recorded.",
                _PLAN,
                "",
                "Wrists have the smallest ranges of a robot: the limited posture gives up the palm's "
                "direction first.",
            ),
            _Text(
                "retarget.robot_hand_orientation_max_rad",
                "Largest of the angles of `retarget.robot_hand_orientation_mean_rad`.",
                _PLAN,
                "",
                "`simbench retarget` says when it is, and on which side.",
            ),
            _Text(
                "retarget.robot_at_limit_fraction",
                "Largest fraction of the samples at which one joint of trunk or arms is at one of its limits"
                ", nearer than `retarget.joint_limit_margin_rad` plus 0.01 rad.",
                _PLAN,
                "",
                "A joint at its limit does not follow the person: its motion is lost. `simbench retarget` "
                "names the joints.",
            ),
            _Text(
                "retarget.interference_count",
                "Number of times that the planned motion penetrates the robot itself or the equipment. "
                "Penetrations deeper than 1 mm are all found.",
                _PLAN + ", and between them",
                "",
                "`simbench retarget` lists the links, times and depths. Change the place, the posture or the "
                "equipment's size; thin penetrations of a hand around its handle may be harmless.",
            ),
        ),
    ),
    _Group(
        "robots with legs that follow a recording",
        (
            _Text(
                "imitation.hand_mean_m",
                "Mean distance of the wrists of the scaled model, which imitates the person, from the "
                "recorded wrists; both wrists.",
                _PLAN,
                "",
                "Quality of the imitation before anything is adapted to the robot. Large values mean a "
                "recording whose limbs change length: check it with `simbench motion inspect`.",
            ),
            _Text(
                "imitation.hand_max_m",
                "Largest distance of a wrist of the scaled model from the recorded wrist.",
                _PLAN,
                "",
                "As `imitation.hand_mean_m`, for the worst frame: often a swapped or jumping marker.",
            ),
            _Text(
                "retarget.similarity",
                "Similarity criterion S: mean squared difference of the joint velocities of trunk and arms "
                "between the scaled model that imitates the person and the robot, "
                "S = (1/N) Σ ‖q̇_imitation − q̇_robot‖², in (rad/s)² (Tomić 2018, eq. 4.25).",
                _PLAN + ", while a hand is in contact",
                "",
                "0 for the same motion. Compare it only between plans of one recording. It is absent if no "
                "hand is in contact.",
            ),
        ),
    ),
    _Group(
        "robots with two arms that imitate a recording",
        (
            _Text(
                "retarget.robot_upper_arm_mean_rad",
                "Mean angle between the robot's and the person's upper arms, both sides, in the robot's "
                "heading; joint limits kept.",
                _PLAN,
                "",
                "0 for the same posture of the arms. Limits of shoulders and equipment that is held cost "
                "most; `simbench retarget` names the joints that stay at a limit.",
            ),
            _Text(
                "retarget.robot_upper_arm_max_rad",
                "Largest of the angles of `retarget.robot_upper_arm_mean_rad`.",
                _PLAN,
                "",
                "`simbench retarget` says when it is, and on which side.",
            ),
            _Text(
                "retarget.robot_forearm_mean_rad",
                "Mean angle between the robot's and the person's forearms, both sides, in the robot's "
                "heading; joint limits kept.",
                _PLAN,
                "",
                "As `retarget.robot_upper_arm_mean_rad`; limits of the elbows and of the upper arms' axial "
                "rotation cost most.",
            ),
            _Text(
                "retarget.robot_forearm_max_rad",
                "Largest of the angles of `retarget.robot_forearm_mean_rad`.",
                _PLAN,
                "",
                "`simbench retarget` says when it is, and on which side.",
            ),
            _Text(
                "retarget.robot_trunk_mean_rad",
                "Mean angle between the rotations of the robot's and the person's trunk out of the initial "
                "posture, upright, in the robot's heading. It is absent if no trunk was recorded.",
                _PLAN,
                "",
                "A robot without waist joints keeps its trunk upright; the person's leans and turns.",
            ),
            _Text(
                "retarget.robot_trunk_max_rad",
                "Largest of the angles of `retarget.robot_trunk_mean_rad`.",
                _PLAN,
                "",
                "`simbench retarget` says when it is.",
            ),
        ),
    ),
    _fidelity(
        "runs of robots with two arms that follow a recording; as far as both have the part", error_texts()
    ),
    _fidelity("runs that follow a recording; the lag of two arms only", tempo_texts()),
    _Group(
        "runs that follow the person's steps",
        (
            _Text(
                "follow.person_step_count",
                "Number of landings of the person in the recording.",
                _PLAN,
                "",
                "See how contacts are found with `simbench motion inspect`.",
            ),
            _Text(
                "follow.step_count",
                "Number of planned landings of these. A foot that is in the air at the recording's end "
                "is put "
                "down after it and does not count.",
                _PLAN,
                "",
                "Fewer than `follow.person_step_count` if the person begins in the air with both feet.",
            ),
            _Text(
                "follow.floor_turn_count",
                "Number of the person's steps that replace turns and slides of a foot on the floor.",
                _PLAN,
                "",
                "The robot's feet stand still on the floor; they are among `follow.person_step_count`.",
            ),
            _Text(
                "follow.changed_step_count",
                "Number of changes of the person's scaled steps, in place, rotation and time, each of "
                "which is "
                "told in a line.",
                _PLAN,
                "",
                "With `retarget.steps_strict: true` a recording with any is refused.",
            ),
            _Text(
                "follow.scale",
                "Ratio of the robot's distances on the floor to the person's.",
                _PLAN,
                "",
                "At most the ratio of the legs' lengths; less where steps of that length are out of "
                "reach, or "
                "need faster joints at the recorded tempo.",
            ),
            _Text(
                "follow.widened_m",
                "Distance by which both feet are farther apart than the person's, scaled.",
                _PLAN,
                "",
                "People put their feet nearly in line; a robot's stand beside each other.",
            ),
            _Text(
                "follow.lowered_m",
                "Distance by which the COG is lower than the person's, scaled: level feet need bent knees.",
                _PLAN,
                "",
                "It grows with the length of the steps.",
            ),
        ),
    ),
    _fidelity("runs that follow the person's steps", footstep_texts()),
    _Group(
        "scenarios with section `stepping`",
        (
            _Text(
                "base.forward_error_m",
                "Absolute difference of `base.forward_m` from where `stepping.commands` lead: each command "
                "begins where the one before ends.",
                _ALL,
                "base_pose",
                "How well the robot walks to where it was sent. It grows with the distance: soles slip "
                "and turn a little in every step.",
            ),
            _Text(
                "base.left_error_m",
                "Absolute difference of `base.left_m` from where `stepping.commands` lead.",
                _ALL,
                "base_pose",
                "As `base.forward_error_m`, sideways.",
            ),
            _Text(
                "base.turn_error_rad",
                "Absolute difference of `base.turn_rad` from the sum of the commanded rotations.",
                _ALL,
                "base_pose",
                "A difference means that the soles slip.",
            ),
            _Text(
                "steps.missed_count",
                "Number of planned steps that were not taken; see `steps.count`.",
                _ALL,
                "contact_planned, foot_points",
                "Above 0: a foot never left the floor, landed too late, or the robot fell before. Increase "
                "`stepping.lift_m` or the durations of support.",
            ),
        ),
    ),
    _Group(
        "scenarios with section `push`",
        (
            _Text(
                "push.survived_ns",
                "Impulse of the last push after which the robot still stood when the next one came, or "
                "`push.interval_s` later; 0 if it fell at the first. Pushes after a fall do not count.",
                _ALL,
                "base_pose",
                "The robustness of balance. `balance.recovery: step` lets the robot step instead of falling.",
            ),
            _Text(
                "push.survived_count",
                "Number of pushes before the robot fell.",
                _ALL,
                "base_pose",
                "As `push.survived_ns`.",
            ),
            _Text(
                "push.survived_fraction",
                "Fraction of the scenario's pushes before the robot fell.",
                _ALL,
                "base_pose",
                "1 if the robot survived all of them. Unlike `push.survived_ns`, it can be checked whatever "
                "the impulses are.",
            ),
            _Text(
                "push.rest_s",
                "Longest time from the start of a push until the COG stayed slower than 0.05 m/s. None if "
                "the robot fell, or did not rest for at least 0.2 s before the next push.",
                _ALL,
                "cog_velocity, base_pose",
                "How fast the robot comes to rest. None without a fall: increase `push.interval_s`.",
            ),
        ),
    ),
    _Group(
        "runs whose physics diverged",
        (
            _Text(
                "simulation.diverged_s",
                "Time at which the physics diverged: a joint or the base reached 99 rad/s or 99 m/s, was "
                "1000 m away, or was not a finite number. The run ends there; its log is what came before. "
                "Of the other metrics it has only those of the plan and of the timing.",
                _PHYSICS,
                "diverged",
                "The run measures nothing: reduce `simulation.timestep_s` or the gains, and look for "
                "penetrations at the start. The log's attribute `diverged` says which joint was first.",
            ),
        ),
    ),
    _Group(
        "every run",
        (
            _Text(
                "engine",
                "Physics engine that simulated the run: `bullet` or `mujoco`.",
                _PHYSICS,
                "",
                "Set by `simulation.engine`. `simbench compare-engines` says what depends on it.",
                kind=_NAME,
            ),
            _Text(
                "timing.realtime_factor",
                "Simulated time divided by the time it took: values above 1 are faster than real time. "
                "Compilation is not counted.",
                _PHYSICS,
                "",
                "Depends on the machine; baselines ignore it.",
            ),
            _Text(
                "timing.step_overhead",
                "Total time of the simulation divided by the physics engine's share of it.",
                _PHYSICS,
                "",
                "Depends on the machine; baselines ignore it. It grows with what is logged and controlled.",
            ),
        ),
    ),
    _Group(
        "runs that follow a recording",
        (
            _Text(
                "timing.plan_reused",
                "Whether the plan came from the cache of plans. The run is the same either way.",
                "the plan",
                "",
                "Depends on earlier runs; baselines ignore it. `--no-cache` plans anew.",
            ),
        ),
    ),
    _Group(
        _BALANCED,
        (
            _Text(
                "timing.balance_tick_median_s",
                "Median time that one tick of the balance controller takes. Compilation is not counted.",
                "ticks of the balance controller",
                "",
                "Depends on the machine; baselines ignore it. It must be below 1 / `balance.rate_hz` for "
                "real time.",
            ),
            _Text(
                "timing.balance_share",
                "Share of the simulation's time that the balance controller takes.",
                "ticks of the balance controller",
                "",
                "Depends on the machine; baselines ignore it.",
            ),
        ),
    ),
    _Group(
        "fixtures that are cut (knife, grater)",
        (
            _Text(
                "<fixture>.cut_depth_m",
                "Depth of the cut at the end: work of friction along the joint divided by the work per "
                "depth, d = F_c ∫|ẋ| dt / w.",
                "last sample",
                "<fixture>_cut",
                "Progress of the work. Less than the actor's: see `<fixture>.cut_ratio`.",
            ),
            _Text(
                "<fixture>.cut_ratio",
                "Depth of the robot's cut divided by the actor's.",
                "last sample",
                "<fixture>_cut, <fixture>_cut_actor",
                "Below 1 the robot moved the tool less than the person did: see `<fixture>.<joint>_ratio`.",
            ),
        ),
    ),
    _Group(
        "fixtures that stand freely (knife, grater, hand_drill)",
        (
            _Text(
                "<fixture>.moved_m",
                "Largest displacement of the fixture from its position at the end of settling.",
                SETTLED,
                "<fixture>_stand",
                "The fixture slides on its table. The other hand must hold it more firmly: reduce the joint "
                "friction or the speed.",
            ),
            _Text(
                "<fixture>.turned_rad",
                "Largest rotation of the fixture from its orientation at the end of settling.",
                SETTLED,
                "<fixture>_stand",
                "As `<fixture>.moved_m`: the fixture turns or tips.",
            ),
        ),
    ),
    _Group(
        "fixtures with joints",
        (
            _Text(
                "<fixture>.<joint>_m",
                "Range of a prismatic joint's position: max x − min x.",
                _ALL,
                "<fixture>_<joint>",
                "How far the robot moved the equipment; see `<fixture>.<joint>_ratio`.",
            ),
            _Text(
                "<fixture>.<joint>_rad",
                "Range of a revolute joint's position: max φ − min φ.",
                _ALL,
                "<fixture>_<joint>",
                "How far the robot turned the equipment; see `<fixture>.<joint>_ratio`.",
            ),
            _Text(
                "<fixture>.<joint>_ratio",
                "Least ratio, over the strokes of the recording, of the joint's range to the range to which "
                "the actor moved it. It is absent for a joint that none of the robot's hands was to move, "
                "and without strokes.",
                "samples of each stroke",
                "<fixture>_<joint>, <fixture>_<joint>_actor, strokes",
                "1 means that the task was done as the person did it. Less: the grip was late, lost or "
                "yielded (`grip.held_fraction`, `hands.rms_m`), or the end stop was hit.",
            ),
        ),
    ),
)

_WILDCARDS = {"<fixture>": r"[A-Za-z0-9_-]+", "<joint>": r"[A-Za-z0-9_]+"}


def metric_entries() -> tuple[MetricEntry, ...]:
    """List every metric that a run can produce, in the groups in which runs have them.

    Returns metrics with a fixed name first; those of fixtures, which are patterns, last.
    """
    return tuple(_entry(text, group.present) for group in _GROUPS for text in group.metrics)


def find_metric(name: str) -> MetricEntry | None:
    """Find the entry of a metric.

    `name`: name of the metric as a run gives it, such as `drawer.travel_ratio`. Returns its entry, with the
    metric's own name in place of a pattern; None if no run produces such a metric.
    """
    entries = metric_entries()
    fixed = {entry.name: entry for entry in entries if "<" not in entry.name}
    if name in fixed:
        return fixed[name]
    groups = {known.partition(".")[0] for known in fixed}
    for entry in entries:
        if entry.name == name:
            return entry
        values = _match(entry.name, name)
        if values is not None and values["<fixture>"] not in groups:
            return entry._replace(
                name=name,
                definition=_fill(entry.definition, values),
                advice=_fill(entry.advice, values),
                variables=tuple(_fill(each, values) for each in entry.variables),
            )
    return None


def known_metrics(fixtures: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """List the metrics that a run with certain fixtures can have.

    `fixtures`: names of the joints of each fixture of the scenario. Returns names of metrics.
    """
    names = [entry.name for entry in metric_entries()]
    filled = [
        name.replace("<fixture>", fixture).replace("<joint>", joint)
        for name in names
        if "<" in name
        for fixture, joints in fixtures.items()
        for joint in (joints if "<joint>" in name else ("",))
    ]
    return tuple(dict.fromkeys([*(name for name in names if "<" not in name), *filled]))


def _entry(text: _Text, present: str) -> MetricEntry:
    """Complete what is written by hand with what follows from the name."""
    return MetricEntry(
        name=text.name,
        definition=text.definition,
        unit=unit_of(text.name),
        kind=text.kind,
        samples=text.samples,
        better=metric_direction(text.name),
        tolerance=_tolerance(text),
        advice=text.advice,
        variables=tuple(name for name in text.variables.split(", ") if name),
        present=present,
    )


def _tolerance(text: _Text) -> str:
    """Say how far a metric may be from its baseline."""
    if metric_direction(text.name) == "ignored":
        return "ignored"
    if text.kind == _NAME:
        return "none: it must stay the same"
    if text.kind == _TRUTH:
        return "none: it must not change for the worse"
    unit, absolute = unit_of(text.name), usual_tolerance(text.name, 0.0)
    relative = f"{100.0 * RELATIVE:g} % of the baseline's value"
    usual = f"{relative}, at least {f'{absolute:g} {unit}'.strip()}" if absolute else relative
    return f"{usual}; {SPREADS:g} times the spread that rounding was seen to cause, where that is more"


def _match(pattern: str, name: str) -> dict[str, str] | None:
    """Find what stands in a name for each placeholder of a pattern."""
    parts = re.split("(<fixture>|<joint>)", pattern)
    expression = "".join(f"({_WILDCARDS[part]})" if part in _WILDCARDS else re.escape(part) for part in parts)
    found = re.fullmatch(expression, name)
    placeholders = [part for part in parts if part in _WILDCARDS]
    return dict(zip(placeholders, found.groups(), strict=True)) if found and placeholders else None


def _fill(text: str, values: dict[str, str]) -> str:
    """Write a fixture's and a joint's name into a text with placeholders."""
    for placeholder, name in values.items():
        text = text.replace(placeholder, name)
    return text
