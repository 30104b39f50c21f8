"""What would help a robot that cannot step: changed steps, each planned, the best of them simulated."""

from collections.abc import Callable

from simbench.options import BalanceSection, RobotSection, SimulationSection, SteppingSection
from simbench.robot.robot import Robot
from simbench.runs.robot_check.findings import VERDICTS, Finding, Offer, worst_of
from simbench.runs.robot_check.statics import check_commands, judge_steps
from simbench.sim.step_changes import SIZES, StepChange, step_changes

_LOADS = ("speed_fraction", "torque_fraction")
_CHANGES = 3  # Changes at once, at most.
_SIMULATED = 2  # Changes that are simulated at most, those first that promise most.


def offer_steps(
    robot: Robot,
    section: RobotSection,
    steps: tuple[RobotSection, SteppingSection] | None,
    simulate: Callable[[RobotSection, SteppingSection], list[Finding]] | None,
) -> list[Offer]:
    """Find changes of the steps that were checked with which a robot can make them.

    `section`: base placement and posture; `steps`: the steps that were checked; None if the legs can make
    none; `simulate`: simulates steps, of the most promising changes, and says what was measured; None for
    plans alone. Returns the best offer of each kind of change. If none helps, the one that comes nearest,
    whose verdict is `no`.
    """
    given = (section, SteppingSection(commands=check_commands(robot)))
    planned: list[tuple[int, float, StepChange, list[Finding]]] = []
    start, before = steps or given, ""
    # If no change helps, others are added to the one that comes nearest.
    for _ in range(_CHANGES):
        done: set[str] = set()
        for change in step_changes(robot, *start):
            # How long steps can be was looked at before.
            if change.kind in done or change.kind in SIZES.values() or change.kind in before:
                continue
            made = change.plan(robot, BalanceSection(), SimulationSection())
            if made is None:
                continue
            fitted, run = made[0]._replace(kind=before + change.kind), made[1]
            findings = judge_steps(robot, fitted.section, fitted.stepping, run.balancer)
            rank = VERDICTS.index(worst_of(findings)[0])
            load = max(each.value or 0.0 for each in findings if each.name in _LOADS)
            planned.append((rank, load, fitted, findings))
            if rank == VERDICTS.index("yes"):
                done.add(change.kind)
        planned.sort(key=lambda each: each[:2])
        if not planned or planned[0][0] < VERDICTS.index("no"):
            break
        nearest = planned[0][2]
        start, before = (nearest.section, nearest.stepping), f"{nearest.kind} and "
    # The best of each kind, if it helps.
    best: dict[str, tuple[StepChange, list[Finding]]] = {}
    for rank, _, fitted, findings in planned:
        if rank < VERDICTS.index("no"):
            best.setdefault(fitted.kind, (fitted, findings))
    looked_at = [*best.values()][: _SIMULATED if simulate else None] or [each[2:] for each in planned[:1]]
    offers = []
    for fitted, findings in looked_at:
        simulated = simulate is not None and bool(best)
        if simulate is not None and simulated:
            findings = [*findings, *simulate(fitted.section, fitted.stepping)]
        options = fitted.options(*given)
        offers.append(Offer("step", fitted.kind, *worst_of(findings), options, simulated))
    offers.sort(key=lambda each: VERDICTS.index(each.verdict))
    return [offer for offer in offers if offer.verdict != "no"] or offers[:1]
