"""The choice between recorded, locally stretched and uniformly slowed time."""

from simbench.options import RetargetSection
from simbench.retargeting.timing.preserve import LEAST_KNOTS


def resolve_timing(
    settings: RetargetSection, *, holds_equipment: bool, standing: bool, sample_count: int
) -> RetargetSection:
    """Replace the timing `auto` by the one that suits the motion.

    Free motion of a robot on legs keeps the recorded clock (`preserve`): nothing but the person says how fast
    it is. Hands that hold equipment keep their path, and time gives way (`local`); so does an arm on a fixed
    base. A motion of less than six samples has no path to bend, and is slowed as a whole (`uniform`).

    Parameters
    ----------
    settings : RetargetSection
        Settings of a scenario.
    holds_equipment : bool
        Whether the hands hold equipment.
    standing : bool
        Whether the robot stands on legs, or sits.
    sample_count : int
        Number of the motion's samples.

    Returns
    -------
    RetargetSection
        The settings with another timing than `auto`.
    """
    if settings.timing != "auto":
        return settings
    timing = "preserve" if standing and not holds_equipment else "local"
    if timing == "preserve" and sample_count < LEAST_KNOTS:
        timing = "uniform"
    return settings.model_copy(update={"timing": timing})
