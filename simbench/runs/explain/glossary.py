"""Terms that simbench prints or its documentation uses, with their definitions."""

from typing import NamedTuple


class Term(NamedTuple):
    """A term with its definition."""

    name: str
    aliases: tuple[str, ...]  # Other words for it.
    definition: str
    page: str  # Page of the site with more about it.


_TERMS = (
    Term(
        "ZMP",
        ("zero-moment point",),
        "Zero-moment point: the point of the floor about which the contact forces on the feet have no "
        "horizontal moment. A robot does not tip as long as it is inside the support polygon.",
        "concepts/balance",
    ),
    Term(
        "COG",
        ("COM", "centre of gravity", "center of gravity", "centre of mass"),
        "Centre of gravity of the whole robot; the same point as the centre of mass (COM).",
        "concepts/balance",
    ),
    Term(
        "support polygon",
        (),
        "Convex hull of the points at which the feet touch the floor.",
        "concepts/balance",
    ),
    Term(
        "COG-ZMP control",
        ("COG-ZMP gains", "gains"),
        "Control law of balance (Kim, Choi, Oh & You 2005): the commanded COG velocity is the planned one, "
        "minus k_p times the ZMP error, plus k_c times the COG error. It is stable for k_c > ω > k_p, "
        "where ω "
        "is the natural frequency of the inverted pendulum. The keys are `balance.gain_cog` and "
        "`balance.gain_zmp`.",
        "concepts/balance",
    ),
    Term(
        "motion embedding",
        ("embedding",),
        "The balance controller takes the prescribed motion of the arms into account: the legs compensate "
        "its "
        "effect on the COG. Without it (`balance.embedding: false`) the controller assumes arms at rest.",
        "concepts/balance",
    ),
    Term(
        "linear inverted pendulum",
        ("LIPM", "inverted pendulum"),
        "Model of a standing robot as a point mass at constant height h over the ZMP: c̈ = ω² (c − p) with "
        "ω = √(g / h).",
        "concepts/balance",
    ),
    Term(
        "capture step",
        ("recovery step", "capture point"),
        "Step to where a pushed robot can come to rest. `balance.recovery: step` allows it.",
        "concepts/balance",
    ),
    Term(
        "ICP",
        ("initial configuration phase", "initial configuration pose"),
        "Initial configuration phase of a recording: the person stands with the arms horizontally forward, "
        "palms down. The scaled model is fitted to it. `simbench motion inspect` prints when it is.",
        "how_to/recording",
    ),
    Term(
        "TGP",
        ("transition and grasp phase",),
        "Transition and grasp phase of a recording, between the initial configuration and the first "
        "repetition: the hands move to the equipment and take hold of it.",
        "how_to/recording",
    ),
    Term(
        "PMP",
        ("periodic motion phase",),
        "Periodic motion phase of a recording, which consists of the repetitions of the task.",
        "how_to/recording",
    ),
    Term(
        "primitive",
        (),
        "One repetition of a task, between two moments at which the hands stop in a posture that recurs.",
        "how_to/recording",
    ),
    Term(
        "stroke",
        ("strokes",),
        "One repetition of the equipment's motion in the recording; the variable `strokes` of a log holds "
        "its "
        "start and end.",
        "concepts/contact_and_placement",
    ),
    Term(
        "similarity",
        ("S", "similarity criterion"),
        "Similarity criterion S (Tomić 2018, eq. 4.25): mean squared difference between the joint velocities "
        "of the scaled model that imitates the person and those of the robot, in (rad/s)². 0 is the same "
        "motion. The metric is `retarget.similarity`.",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "retargeting",
        (),
        "Conversion of a recorded human motion to joint positions of a robot.",
        "concepts/pipeline",
    ),
    Term(
        "imitation",
        (),
        "First stage of retargeting: the robot's kinematic model, scaled to the person's size, follows the "
        "recorded joints.",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "scaled model",
        ("scaled actor",),
        "Model with the robot's joints and the person's limb lengths, which follows the recording.",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "UDE",
        (),
        "Method of inverse kinematics of Tomić (2018) that follows the recorded markers alone "
        "(`retarget.method: ude`).",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "arm adaptation",
        (),
        "Method of Kim & Kim (2005): the person's arm is stretched to the length of the robot's, inside "
        "limits "
        "of position, speed and acceleration (`retarget.method: arm_adaptation`).",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "marker map",
        ("marker_map",),
        "File that says which markers of a recording give which joints and segments of the body.",
        "how_to/recording",
    ),
    Term(
        "fixture",
        ("equipment", "mechanism"),
        "Equipment of a scenario that the robot works with: rigid parts, joints and handles.",
        "how_to/equipment",
    ),
    Term(
        "placement",
        ("place", "base placement"),
        "Position, heading and height at which the robot stands. `robot.place: auto` searches the placement "
        "from which the whole task is reachable with the largest joint-limit margin.",
        "concepts/contact_and_placement",
    ),
    Term(
        "joint-limit margin",
        ("margin",),
        "Least distance of any joint from its limits during the task, rad.",
        "concepts/contact_and_placement",
    ),
    Term(
        "interference",
        (),
        "Penetration of two links of the robot, or of a link and the equipment, in the planned motion.",
        "concepts/contact_and_placement",
    ),
    Term(
        "criteria",
        ("energy", "ergonomics", "ergonomy", "manipulability"),
        "What a person may minimise with the redundancy of the arms (Tomić 2018): kinetic energy, joint "
        "velocity, distance from the ergonomic posture, nearness to singular postures. "
        "`retarget.weights` gives their weights.",
        "concepts/redundancy_and_skills",
    ),
    Term(
        "mixture",
        ("weights",),
        "Weighted combination of the criteria, with weights that add up to 1.",
        "concepts/redundancy_and_skills",
    ),
    Term(
        "inverse optimal control",
        ("IOC",),
        "Search of the weights of the criteria with which the law reproduces a person's motion best "
        "(`simbench skills`).",
        "learn/08_what_did_this_person_minimise",
    ),
    Term(
        "computed torque",
        ("computed_torque",),
        "Control law of an arm: the inverse dynamics of an acceleration that corrects the error "
        "(`control.law: computed_torque`).",
        "how_to/controller",
    ),
    Term(
        "feed-forward",
        ("feedforward", "feed forward"),
        "Torque of the planned motion, which is added to the PD law (`control.feedforward`).",
        "how_to/controller",
    ),
    Term(
        "reflected inertia",
        ("armature",),
        "Inertia of a motor's rotor as the joint feels it: the rotor's inertia times the square of the "
        "reduction.",
        "reference/robot_yaml",
    ),
    Term(
        "wrench",
        (),
        "Force and moment together: fx, fy, fz in N and mx, my, mz in N·m.",
        "concepts/frames_and_units",
    ),
    Term(
        "check",
        ("checks",),
        "A bound of a scenario on one of its metrics. A run whose checks do not all hold ends with exit "
        "status 1.",
        "how_to/checks",
    ),
    Term(
        "baseline",
        (),
        "Expected metrics of a scenario, kept in a file; `simbench check` compares runs with them.",
        "how_to/checks",
    ),
    Term(
        "spread",
        (),
        "Largest change of a metric that rounding alone was seen to cause, kept in the baseline. Chaotic "
        "metrics, such as the force of an impact, have a large one.",
        "how_to/checks",
    ),
    Term(
        "Tomić 2018",
        ("the thesis", "thesis", "Tomic 2018"),
        'M. Tomić, "Dual-arm robotic manipulation inspired by human skills", thesis, 2018: imitation, '
        "contact, similarity and the criteria of human motion follow it.",
        "validation/tomic2018",
    ),
)


def glossary_entries() -> tuple[Term, ...]:
    """List the terms. Returns terms by subject."""
    return _TERMS


def find_term(word: str) -> Term | None:
    """Find a term.

    `word`: the term or one of its other words, in any case. Returns the term; None if it is not in the
    glossary.
    """
    wanted = word.casefold()
    for term in _TERMS:
        if wanted in (each.casefold() for each in (term.name, *term.aliases)):
            return term
    return None
