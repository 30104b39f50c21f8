"""URDFs of invented humanoids: random names, axes, link frames and order of joints, in any size."""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

SOLE = ((-0.06, 0.14), (-0.05, 0.05))
"""Rectangle of the sole below the ankle, m, at scale 1."""
ANKLE = 0.08
"""Height of the ankle above the sole, m, at scale 1."""
LEG = (
    ("z", (-0.6, 0.6)),
    ("x", (-0.4, 0.4)),
    ("y", (-1.8, 0.6)),
    ("y", (0, 2.2)),
    ("y", (-1.2, 0.8)),
    ("x", (-0.4, 0.4)),
)
ARM = (
    ("y", (-3.0, 1.0)),
    ("x", (-0.2, 1.6)),
    ("z", (-1.5, 1.5)),
    ("y", (-2.2, 0)),
    ("z", (-1.6, 1.6)),
    ("y", (-1.0, 1.0)),
)


@dataclass
class Humanoid:
    """An invented humanoid; `names` maps parts such as `left_leg3` to the names of joints and links."""

    scale: float
    seed: int
    plain_names: bool = False
    swapped_names: bool = False
    shapes: bool = True
    limits: bool = True
    third_leg: bool = False
    fixed: tuple[str, ...] = ()
    """Parts such as `left_arm5` that do not move against the part before."""
    fingers: bool = False
    """Whether hands have two fingers each, of which one mimics the other, and which move to both sides."""
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.frames: dict[str, np.ndarray] = {}

    def urdf(self) -> str:
        """Build the URDF with its links and joints in random order."""
        self._link("pelvis", 9.0, (0.16, 0.24, 0.12), (0, 0, 0.04), turned=False)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            self._leg(side, sign * 0.1)
        if self.third_leg:
            self._leg("middle", 0.0)
        self._joint("waist", "pelvis", (0, 0, 0.12), "z", (-0.8, 0.8), 80.0)
        self._link("waist", 20.0, (0.18, 0.3, 0.36), (0, 0, 0.2))
        self._joint("neck0", "waist", (0, 0, 0.42), "z", (-0.8, 0.8), 10.0)
        self._link("neck0", 0.5, (0.05, 0.05, 0.04), (0, 0, 0.02))
        self._joint("neck1", "neck0", (0, 0, 0.05), "y", (-0.5, 0.7), 10.0)
        self._link("neck1", 2.5, (0.16, 0.15, 0.18), (0.01, 0, 0.1))
        for side, sign in (("left", 1.0), ("right", -1.0)):
            self._arm(side, sign)
        self.random.shuffle(self.links)
        self.random.shuffle(self.joints)
        return '<robot name="invented">\n' + "\n".join([*self.links, *self.joints]) + "\n</robot>\n"

    def joint_names(self, limb: str, count: int) -> set[str]:
        """Names of the joints of a limb."""
        return {self.names[f"{limb}{index}"][0] for index in range(count)}

    def _leg(self, side: str, y: float) -> None:
        places = [(0, y, 0), (0, 0, 0), (0, 0, 0), (0, 0, -0.35), (0, 0, -0.35), (0, 0, 0)]
        masses = (1.0, 1.2, 5.0, 3.0, 0.5, 1.4)
        toe, width = SOLE
        foot = (toe[1] - toe[0], width[1] - width[0], 0.03)
        sizes = [(0.06,) * 3, (0.06,) * 3, (0.1, 0.1, 0.25), (0.09, 0.09, 0.25), (0.05,) * 3, foot]
        centres = [
            (0, 0, 0),
            (0, 0, 0),
            (0, 0, -0.17),
            (0, 0, -0.17),
            (0, 0, 0),
            (sum(toe) / 2, sum(width) / 2, 0.015 - ANKLE),
        ]
        self._limb(
            f"{side}_leg", "pelvis", LEG, places, masses, sizes, centres, -1.0 if y < 0 else 1.0, 150.0
        )

    def _arm(self, side: str, sign: float) -> None:
        places = [(0, sign * 0.22, 0.34), (0, 0, 0), (0, 0, 0), (0, 0, -0.27), (0, 0, -0.22), (0, 0, 0)]
        masses = (0.6, 0.6, 1.4, 1.2, 0.2, 0.8)
        sizes = [
            (0.06,) * 3,
            (0.06,) * 3,
            (0.07, 0.07, 0.17),
            (0.06, 0.06, 0.13),
            (0.03,) * 3,
            (0.03, 0.08, 0.14),
        ]
        centres = [(0, 0, 0), (0, 0, 0), (0, 0, -0.15), (0, 0, -0.12), (0, 0, 0), (0, 0, -0.09)]
        self._limb(f"{side}_arm", "waist", ARM, places, masses, sizes, centres, sign, 50.0)
        for finger, y in enumerate((-0.02, 0.02) if self.fingers else ()):
            part = f"{side}_finger{finger}"
            self._joint(part, f"{side}_arm5", (0, y, -0.16), "x", (-0.5, 0.5), 1.0)
            self._link(part, 0.03, (0.015, 0.015, 0.07), (0, 0, -0.035))
        if self.fingers:
            names = [self._name(f"{side}_finger{finger}")[0] for finger in (0, 1)]
            follower = next(k for k, joint in enumerate(self.joints) if f'"{names[1]}"' in joint)
            mimic = f'<mimic joint="{names[0]}" multiplier="-1"/></joint>'
            self.joints[follower] = self.joints[follower].replace("</joint>", mimic)

    def _limb(self, limb, trunk, axes, places, masses, sizes, centres, sign, effort) -> None:
        parent = trunk
        for index, (axis, limits) in enumerate(axes):
            part = f"{limb}{index}"
            low, high = limits if sign > 0 or axis == "y" else (-limits[1], -limits[0])
            self._joint(part, parent, places[index], axis, (low, high), effort)
            self._link(part, masses[index], sizes[index], centres[index])
            parent = part

    def _name(self, part: str) -> tuple[str, str]:
        if part not in self.names:
            text = "".join(self.random.choice(list("bcdfgjkmpqstvwxz"), 9))
            name = part if self.plain_names else text
            if self.swapped_names:
                name = {"left": "right", "right": "left"}.get(part.split("_")[0], "") + "_" + text
            self.names[part] = (f"{name}_j", f"{name}_b")
        return self.names[part]

    def _link(self, part, mass, size, centre, turned=True) -> None:
        """Add a link whose frame is turned at random against the robot's axes."""
        rotation = self.frames.setdefault(part, self._random_turn() if turned else np.eye(3))
        mass, size = mass * self.scale**3, self.scale * np.array(size)
        centre = rotation.T @ (self.scale * np.array(centre))
        rpy = " ".join(f"{value:.12g}" for value in pin.rpy.matrixToRpy(rotation.T))
        origin = f'<origin xyz="{" ".join(f"{value:.12g}" for value in centre)}" rpy="{rpy}"/>'
        x, y, z = size**2
        moments = [mass / 12 * value for value in (y + z, x + z, x + y)]
        inertia = '<inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/>'.format(*moments)
        shape = f'<geometry><box size="{" ".join(map(str, size))}"/></geometry>'
        collision = f"<collision>{origin}{shape}</collision>" if self.shapes else ""
        self.links.append(
            f'<link name="{self._name(part)[1]}"><inertial>{origin}<mass value="{mass}"/>{inertia}</inertial>'
            f"{collision}</link>"
        )

    def _joint(self, part, parent, place, axis, limits, effort) -> None:
        """Add a joint, whose axis may point either way, and whose frame is that of its link."""
        above = self.frames[parent]
        own = self.frames.setdefault(part, self._random_turn())
        sign = self.random.choice([-1.0, 1.0])
        direction = own.T @ (sign * np.eye(3)["xyz".index(axis)])
        low, high = limits if sign > 0 else (-limits[1], -limits[0])
        xyz = above.T @ (self.scale * np.array(place))
        rpy = pin.rpy.matrixToRpy(above.T @ own)
        name, child = self._name(part)
        bounds = f'lower="{low}" upper="{high}" ' if self.limits else ""
        self.joints.append(
            f'<joint name="{name}" type="{"fixed" if part in self.fixed else "revolute"}">'
            f'<parent link="{self._name(parent)[1]}"/>'
            f'<child link="{child}"/>'
            f'<origin xyz="{" ".join(f"{v:.12g}" for v in xyz)}" rpy="{" ".join(f"{v:.12g}" for v in rpy)}"/>'
            f'<axis xyz="{" ".join(f"{v:.12g}" for v in direction)}"/>'
            f'<limit {bounds}effort="{effort * self.scale**4}" velocity="6"/></joint>'
        )

    def _random_turn(self) -> np.ndarray:
        return np.round(pin.rpy.rpyToMatrix(*(0.5 * np.pi * self.random.integers(0, 4, 3))))
