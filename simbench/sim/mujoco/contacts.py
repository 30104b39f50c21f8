"""MuJoCo's contact points as forces on a body."""

from collections.abc import Iterator

import numpy as np

from simbench.sim.engine import BodyHandle, Contact, LinkHandle
from simbench.sim.mujoco.scene import MujocoScene


class MujocoContacts:
    """All contact points of a world's last step.

    MuJoCo reports a contact in the middle between the two surfaces, with a normal from the first shape to the
    second, and its force in the axes of the contact.
    """

    __slots__ = ("_points",)

    def __init__(self, scene: MujocoScene) -> None:
        data, found = scene.data, []
        if data.ncon:
            contact = data.contact
            links = scene.model.geom_bodyid[contact.geom]
            # Of each contact a normal force and two of friction; one that is only near has none of them.
            forces = np.append(data.efc_force, (0.0, 0.0, 0.0))
            rows = np.where(contact.efc_address < 0, data.nefc, contact.efc_address)
            local = forces[rows[:, None] + np.arange(3)]
            axes = contact.frame.reshape(-1, 3, 3)
            world = np.einsum("ci,cij->cj", local, axes)
            half = 0.5 * contact.dist[:, None] * axes[:, 0]
            found = list(
                zip(
                    links.tolist(),
                    (contact.pos - half).tolist(),
                    (contact.pos + half).tolist(),
                    contact.dist.tolist(),
                    local[:, 0].tolist(),
                    world.tolist(),
                    strict=True,
                )
            )
        self._points = [
            (scene.owner(first), scene.owner(second), first, second, *rest)
            for (first, second), *rest in found
        ]

    def on(self, body: BodyHandle) -> Iterator[Contact]:
        """Iterate over the contacts of a body.

        `body`: body that feels the contacts. Yields A contact of the body with itself appears once, as one of
        its two links feels it.
        """
        for owner, other, first, second, at_first, at_second, distance, normal, (x, y, z) in self._points:
            if owner == body:
                yield LinkHandle(first), other, LinkHandle(second), at_first, distance, normal, (-x, -y, -z)
            elif other == body:
                yield LinkHandle(second), owner, LinkHandle(first), at_second, distance, normal, (x, y, z)
