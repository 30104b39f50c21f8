"""A criterion of human motion: ½ q̇ᵀq̇, the same for every joint wherever it is in its range."""

import numpy as np

from simbench.kinematics.redundancy_body import SkillBody
from simbench.kinematics.redundancy_criteria import BodyState, Quadratic


def even_speed(body: SkillBody, state: BodyState) -> Quadratic:
    """Compute W and b of φ(q̇) = ½ q̇ᵀWq̇ + bᵀq̇."""
    return Quadratic(np.eye(len(state.q)), np.zeros(len(state.q)))
