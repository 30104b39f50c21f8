"""Serial arms of every kind of row and joint."""

import dataclasses
from functools import cache

import numpy as np
import pinocchio as pin

from simbench.dynamics.arm import Arm
from simbench.robot.dh import BASE, DhJoint, DhRow, DhTable, HayatiRow, Sigma


def make_arm(rows, sigmas=None, seed=0, full=True):
    """Make an arm of given rows, its masses drawn; `full` fills the inertia's products, too."""
    rng, n = np.random.default_rng(seed), len(rows)
    sigmas = sigmas or [Sigma.REVOLUTE] * n
    names = [BASE, *(f"joint{i}" for i in range(n))]
    joints = tuple(DhJoint(names[i + 1], names[i], rows[i], sigmas[i]) for i in range(n))
    inertias = [pin.Inertia.Random() for _ in range(n)]
    tensors = np.array([each.inertia for each in inertias])
    return Arm(
        table=DhTable(joints),
        mass=rng.uniform(0.5, 2.0, n),
        centre=rng.uniform(-0.2, 0.2, (n, 3)),
        inertia=tensors if full else tensors * np.eye(3),
        motor=rng.uniform(0.1, 1.0, n),
        viscous=rng.uniform(0.0, 1.0, n),
        coulomb=rng.uniform(0.0, 1.0, n),
        gravity=np.array([0.0, 0.0, -9.81]),
    )


@cache
def odd_arms():
    """Arms with β, with a length before a row without one, that slide, that are skewed, and that lean."""
    pin.seed(1)
    half = np.pi / 2
    with_beta = make_arm(
        [HayatiRow(alpha=0.1, d=0.3, theta=0.2, a=0.4), HayatiRow(alpha=-0.02, beta=0.03, theta=0.1, a=0.3)]
    )
    lengthened = make_arm([HayatiRow(alpha=0.1, d=0.3, theta=0.2, a=0.4), DhRow(alpha=0.5, a=0.25, d=0.1)])
    sliding = make_arm(
        [
            DhRow(d=0.4),
            DhRow(alpha=half, a=0.1, theta=0.3),
            DhRow(alpha=-half, d=0.2),
            DhRow(alpha=0.7, a=0.2),
        ],
        [Sigma.REVOLUTE, Sigma.PRISMATIC, Sigma.PRISMATIC, Sigma.REVOLUTE],
    )
    skewed = make_arm(
        [DhRow(alpha=0.3, a=0.1, d=0.2), DhRow(gamma=0.4, b=0.1, alpha=1.1, a=0.3), DhRow(a=0.2)]
    )
    leaning = dataclasses.replace(skewed, gravity=np.array([2.0, -3.0, -9.0]))
    return {"beta": with_beta, "lengthened": lengthened, "sliding": sliding, "leaning": leaning}
