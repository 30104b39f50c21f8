"""Find the criteria that a person minimised while sawing, and compare with the truth of a virtual actor.

You learn inverse optimal control with `analyse_skill`, and how certain its weights are. Task and participant
can be given: python examples/08_what_did_this_person_minimise.py drawer 3
"""

import sys
from pathlib import Path

from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.actors import DEFAULT_SEED
from simbench.motion.actors.session import perform_in_session
from simbench.skills.analysis import analyse_skill, compute_point_spread
from simbench.skills.skill_plot import draw_skill

TASK, PARTICIPANT = (sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 2 else ("knife", 4)
OUT = Path("runs")

# The recording is what motion capture saw; the strategy is what the actor really minimised.
performance = perform_in_session(DEFAULT_SEED, PARTICIPANT, TASK)
analysis = analyse_skill(performance.motion)
mixture, flat = analysis.mixture, analysis.flatness

print(f"{analysis.task.source}: {len(analysis.parts)} repetitions")
print(f"{'criterion':16} counts for  as good between  alone, mm")
for k, name in enumerate(CRITERIA):
    span = f"{flat.lowest[k]:.2f} and {flat.highest[k]:.2f}"
    print(f"{name:16} {mixture.shares[k]:10.2f}  {span:>15}  {1000 * mixture.single[k]:9.1f}")

# A mixture that leaves most of the motion unexplained means nothing, however certain its weights are.
unexplained = mixture.fitness / compute_point_spread(analysis.task)
print(f"error {1000 * mixture.fitness:.1f} mm a sample: {unexplained:.0%} of the motion is unexplained")
print(f"dominant: {mixture.dominant}; could be as well: {', '.join(flat.dominant[1:]) or 'none'}")
print(f"by fuzzy rules: {analysis.strategy.dominant}")
print(f"hidden in the actor: {performance.strategy.dominant}")
OUT.mkdir(exist_ok=True)
draw_skill(analysis, OUT / "08_skill.png")
