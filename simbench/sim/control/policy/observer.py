"""Observations of a policy: terms in the contract's order, their history, normalised."""

from __future__ import annotations

import difflib

import numpy as np

from simbench.errors import PolicyError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.control.policy.contract import Numbers, PolicyContract, TermSection
from simbench.sim.control.policy.terms import TERMS, Snapshot


class Observer:
    """Computes the observations that a contract asks for.

    `where`: file of the contract, for messages. Raises PolicyError if a term is unknown or needs a floating
    base, or a size does not agree.
    """

    def __init__(self, contract: PolicyContract, robot: Robot, where: str) -> None:
        count = len(contract.joints)
        self._terms = contract.observation
        self._by_step = contract.history_order == "by_step"
        for number, section in enumerate(self._terms):
            _require_term(f"{where}: observation.{number}.term", section, robot)
        sizes = [TERMS[section.term].size or count for section in self._terms]
        self._scaling = [
            (
                spread(f"{where}: observation.{number}.offset", section.offset, size),
                spread(f"{where}: observation.{number}.scale", section.scale, size),
                np.inf if section.clip is None else section.clip,
            )
            for number, (section, size) in enumerate(zip(self._terms, sizes, strict=True))
        ]
        self._history = [
            np.zeros((section.history, size)) for section, size in zip(self._terms, sizes, strict=True)
        ]
        self.names = self._entry_names(contract.joints)
        """Name of each entry, such as `joint_velocity.LKneePitch`, with `@-1` for the value before."""
        self.size = len(self.names)
        """Number of entries."""
        if contract.observation_size not in (None, self.size):
            raise PolicyError(
                f"{where}: observation_size: {contract.observation_size}; allowed: {self.describe_size()}"
            )
        self._mean, self._std, self._clip = np.zeros(self.size), np.ones(self.size), np.inf
        if contract.normalisation is not None:
            given = contract.normalisation
            self._mean = spread(f"{where}: normalisation.mean", given.mean, self.size)
            self._std = spread(f"{where}: normalisation.std", given.std, self.size)
            self._clip = np.inf if given.clip is None else given.clip
        self._empty = True

    def describe_size(self) -> str:
        """Say how many entries each term has. Returns such as `12, of joint_velocity 6 × 2`."""
        parts = [
            f"{section.term} {len(rows[0])}" + (f" × {len(rows)}" if len(rows) > 1 else "")
            for section, rows in zip(self._terms, self._history, strict=True)
        ]
        return f"{self.size}, of {', '.join(parts)}"

    def reset(self) -> None:
        """Forget what was observed: the next observation is the first of a run."""
        self._empty = True

    def observe(self, now: Snapshot) -> Array:
        """Compute the next observation; to be called once for each of the policy's ticks.

        `now`: state, reference and plan. Returns (size,): entries in the order of `names`.
        """
        for section, (offset, scale, clip), rows in zip(
            self._terms, self._scaling, self._history, strict=True
        ):
            value = np.clip(TERMS[section.term].compute(now), -clip, clip)
            rows[:-1] = rows[1:]
            rows[-1] = (value + offset) * scale
            if self._empty:
                rows[:] = rows[-1]
        self._empty = False
        if self._by_step:
            steps = range(len(self._history[0]))
            whole = np.concatenate([rows[step] for step in steps for rows in self._history])
        else:
            whole = np.concatenate([rows.ravel() for rows in self._history])
        return np.asarray(np.clip((whole - self._mean) / self._std, -self._clip, self._clip))

    def _entry_names(self, joints: tuple[str, ...]) -> tuple[str, ...]:
        """Name the entries in their order."""
        named = []
        for section, rows in zip(self._terms, self._history, strict=True):
            entries = joints if TERMS[section.term].size is None else range(rows.shape[1])
            ages = range(len(rows) - 1, -1, -1)
            named.append(
                [[f"{section.term}.{e}" + (f"@-{age}" if age else "") for e in entries] for age in ages]
            )
        if self._by_step:
            return tuple(name for step in range(len(named[0])) for term in named for name in term[step])
        return tuple(name for term in named for step in term for name in step)


def _require_term(where: str, section: TermSection, robot: Robot) -> None:
    """Refuse a term that is unknown, or that the robot has not."""
    if section.term not in TERMS:
        close = difflib.get_close_matches(section.term, TERMS, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        raise PolicyError(f"{where}: unknown term {section.term}{hint}; allowed: {', '.join(TERMS)}")
    if TERMS[section.term].base and not robot.floating:
        raise PolicyError(
            f"{where}: {section.term}: the base of {robot.name} is fixed; allowed: terms of joints"
        )


def spread(where: str, given: Numbers, size: int) -> Array:
    """Make an array of one number for all entries, or one for each.

    `where`: file and key, for the message. Returns (size,).
    """
    values = np.asarray(given, dtype=float)
    if values.ndim == 1 and len(values) != size:
        raise PolicyError(f"{where}: {len(values)} numbers; allowed: one, or {size}")
    return np.full(size, values) if values.ndim == 0 else values
