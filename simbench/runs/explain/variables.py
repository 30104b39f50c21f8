"""Everything in a run's log: variables, coordinates and attributes, from where they are declared."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import pinocchio as pin

from simbench.runs import log_builder, log_signals, metrics, person_log, trajectory_log
from simbench.runs.explain.log_names import FIXTURE, JOINT, LogEntry
from simbench.sim import grasp, push, recorder, sensing, state
from simbench.sim.control import command
from simbench.sim.fixtures import MECHANISMS
from simbench.sim.fixtures.declared import DeclaredMechanism
from simbench.sim.fixtures.mechanism import Cut, Mechanism, MechanismJoint
from simbench.sim.state import Signal

_EVERY = "every run"
_FEET = "robots on their feet"
_BALANCED = "balanced robots: on two feet, not seated"
_DIVERGED = "runs whose physics diverged"
_PLANNED = "runs that follow a recording on equipment"
_FOLLOWED = "runs that follow a robot's trajectory"
_FOLLOWED_ON_FEET = "runs on free feet that follow a robot's trajectory"
_IMITATED = "robots with two arms that follow a recording"
_CUT = "fixtures that are cut (knife, grater)"
_STANDING = "fixtures that stand freely (knife, grater, hand_drill)"
_JOINTS = "fixtures with joints"
_SLIDING = {"rad": "m", "rad/s": "m/s", "N m": "N"}
"""Unit of a prismatic joint by that of a revolute one."""


def declared_entries() -> tuple[LogEntry, ...]:
    """Collect everything that a run's log can hold from the modules that write it.

    Returns coordinates, variables, those of fixtures as patterns, and attributes.
    """
    return tuple(_all_entries())


def declared_joints() -> tuple[str, ...]:
    """Collect the names of the joints of all kinds of fixtures. Returns names, such as `travel`."""
    names = []
    for design, make_mechanism in MECHANISMS.items():
        if design is DeclaredMechanism:
            # Its joints are named by whoever declares it.
            continue
        (kind,) = get_args(inspect.get_annotations(design)["type"])
        mechanism = make_mechanism(design(type=kind, position_m=(0.5, 0.0, 0.0)))
        names += [joint.name for joint in mechanism.joints]
    return tuple(dict.fromkeys(names))


def _all_entries() -> Iterator[LogEntry]:
    """Collect the declarations from the modules that make what they declare."""
    time = ("time",)
    yield from _entries("coordinate", _EVERY, log_signals.COORDINATE_SIGNALS)
    yield from _entries("coordinate", _IMITATED, person_log.PERSON_COORDINATES)
    yield from _entries("variable", _EVERY, state.root_and_joint_signals(7, 6), time)
    yield from _entries("variable", _EVERY, recorder.REFERENCE_SIGNALS, time)
    yield from _entries("variable", _EVERY, command.COMMAND_SIGNALS, time)
    yield from _entries("variable", _EVERY, recorder.DERIVED_SIGNALS, time)
    yield from _entries("variable", _EVERY, sensing.CONTACT_SIGNALS, time)
    yield from _entries("variable", _EVERY, push.PUSH_SIGNALS, time)
    yield from _entries("variable", _EVERY, grasp.GRIP_SIGNALS, time)
    for signal in log_builder.HAND_SIGNALS:
        present = _EVERY if signal.name == "hand_contact" else _PLANNED
        yield from _entries("variable", present, (signal,), time)
    yield from _entries("variable", _EVERY, log_builder.LIMIT_SIGNALS)
    yield from _entries("variable", _EVERY, (log_signals.STROKES,))
    yield from _entries("variable", _EVERY, log_signals.CONTACT_EVENT_SIGNALS)
    yield from _entries("variable", _FEET, log_builder.ZMP_SIGNALS, time)
    yield from _entries("variable", _FEET, metrics.SUPPORT_SIGNALS, time)
    yield from _entries("variable", _BALANCED, log_builder.BALANCE_SIGNALS, time)
    yield from _entries("variable", _FOLLOWED, (trajectory_log.JOINT_TRAJECTORY,), time)
    yield from _entries("variable", _FOLLOWED_ON_FEET, trajectory_log.TRAJECTORY_SIGNALS, time)
    yield from _entries("variable", _IMITATED, person_log.PERSON_SIGNALS)
    yield from _fixture_entries()
    yield from _entries("attribute", _EVERY, log_signals.ATTRIBUTE_SIGNALS)
    yield from _entries("attribute", _BALANCED, log_builder.BALANCE_ATTRIBUTES)
    yield from _entries("attribute", _DIVERGED, log_builder.DIVERGENCE_ATTRIBUTES)


def _entries(
    kind: str, present: str, signals: Sequence[Signal[Any]], sampled: tuple[str, ...] = ()
) -> Iterator[LogEntry]:
    """Write declarations as entries."""
    for signal in signals:
        dims = ", ".join((*sampled, *signal.dims))
        unit = signal.unit
        # An arm may have joints that slide; the log's attribute is the unit of the robots that ship.
        if signal.dims == ("joint",) and unit:
            unit = f"{unit}; {_SLIDING[unit]} for a prismatic joint"
        yield LogEntry(signal.name, kind, dims, unit, signal.description, present)


def _fixture_entries() -> Iterator[LogEntry]:
    """Declare a fixture that has everything, with placeholders for names."""
    joint = MechanismJoint(JOINT, "slide", (1.0, 0.0, 0.0))
    fixture = Mechanism(FIXTURE, pin.SE3.Identity(), (), (joint,), standing=True, cut=Cut(JOINT, 1.0))
    signals: tuple[Signal[Any], ...] = (
        *state.fixture_signals(fixture),
        *log_builder.actor_signals(fixture),
        sensing.contact_wrench_signal(FIXTURE),
    )
    present = {"cut": _CUT, "cut_actor": _CUT, "stand": _STANDING, "contact_wrench": "every fixture"}
    for signal in signals:
        suffix = signal.name.removeprefix(f"{FIXTURE}_")
        (entry,) = _entries("variable", present.get(suffix, _JOINTS), (signal,), ("time",))
        if JOINT in signal.name:
            entry = entry._replace(
                unit=f"{entry.unit}; {entry.unit.replace('m', 'rad')} for a revolute joint"
            )
        yield entry
