"""The interface of a physics engine: what loop, contacts, grips, pushes and pictures need; and its choice.

A folder such as `sim.bullet` implements `Engine` with its functions, and `ENGINES` names the folder. No other
module knows which engine is at work: bodies and links are handles that only their engine understands.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, NewType, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.state import FixtureState, RobotState
from simbench.sim.vectors import Motion, Quaternion, Vector

GRAVITY = 9.81  # Gravitational acceleration along -z in every world, m/s².

# Names a body of a world; only the engine that gave it knows what the number means.
BodyHandle = NewType("BodyHandle", int)
# Names a link of a body; only the engine that gave it knows what the number means.
LinkHandle = NewType("LinkHandle", int)


# A contact point of the last step, as one of the two bodies feels it: link of the body that feels the
# contact; body that it touches, and that body's link; contact point on the body, world frame, m; distance
# between the two surfaces, m, negative where they penetrate; normal force, N; normal and friction force on
# the body, world axes, N. Plain: every step that senses makes a dozen of them.
Contact = tuple[LinkHandle, BodyHandle, LinkHandle, Vector, float, float, Vector]


class Contacts(Protocol):
    """All contact points of a step."""

    def on(self, body: BodyHandle) -> Iterator[Contact]:
        """Iterate over the contacts of a body.

        Parameters
        ----------
        body : BodyHandle
            Body that feels the contacts.

        Yields
        ------
        Contact
            A contact of the body with itself appears once, as one of its two links feels it.
        """


class Body(Protocol):
    """A body in a world that forces act on."""

    @property
    def handle(self) -> BodyHandle:
        """Name of the body in its world."""

    @property
    def links(self) -> Mapping[str, LinkHandle]:
        """Handles of the links by name."""

    def link_motions(self, links: Sequence[LinkHandle]) -> list[Motion]:
        """Compute the poses and velocities of links for the present joint positions.

        Parameters
        ----------
        links : sequence of LinkHandle
            Links of this body; the root only alone.

        Returns
        -------
        list of Motion
            One for each link, in world axes.
        """

    def apply_force(self, link: LinkHandle, force: Vector, point: Vector) -> None:
        """Apply a force to a link during the next step.

        Parameters
        ----------
        link : LinkHandle
            Link that the force acts on.
        force : (3,) floats
            Force, world axes, N.
        point : (3,) floats
            Point of application, world frame, m.
        """

    def apply_wrench(self, link: LinkHandle, force: Vector, torque: Vector, point: Vector) -> None:
        """Apply a force and a torque to a link during the next step.

        Parameters
        ----------
        link : LinkHandle
            Link that the wrench acts on.
        force, torque : (3,) floats
            Force (N) and torque (N·m), world axes.
        point : (3,) floats
            Point of application of the force, world frame, m.
        """


class RootMotion(NamedTuple):
    """What an engine integrates of a free root's motion."""

    # (3,): point of the root link whose velocity in world axes it integrates, in the root frame, m.
    point: Vector
    # Whether it integrates the angular velocity in the root's axes, and not in the world's.
    turns_in_root: bool


class RobotBody(Body, Protocol):
    """A robot in a world."""

    @property
    def world(self) -> "World":
        """World that holds the robot."""

    @property
    def robot(self) -> Robot:
        """Robot whose model has this world's frame as its universe."""

    @property
    def root(self) -> LinkHandle:
        """Handle of the root link."""

    @property
    def root_com(self) -> Vector:
        """Centre of mass of the root link in its frame, m."""

    @property
    def root_motion(self) -> RootMotion:
        """What the engine integrates of a free root's motion."""

    @property
    def has_armature(self) -> bool:
        """Whether the engine gives the joints the reflected inertia of their rotors.

        The joint control delivers it in an engine that does not (`sim.control.joint_controller`).
        """

    @property
    def rotors(self) -> Mapping[int, Array]:
        """Rotors that the robot's model has as armatures, and the engine as inertia of links.

        By joint of the model, what the inertia of the link that it carries has in addition, (3, 3), in the
        link's axes, kg·m².
        """

    def apply_root_torque(self, torque: Vector) -> None:
        """Apply a torque to the root link during the next step.

        Parameters
        ----------
        torque : (3,) floats
            Torque, world axes, N·m.
        """

    def read_state(self, state: RobotState) -> None:
        """Copy the configuration and velocity of the robot into `state`.

        Parameters
        ----------
        state : RobotState
            Buffers from `empty_state`; overwritten.
        """

    def root_pose(self) -> Array:
        """Read the pose of the root link.

        Returns
        -------
        (7,) array
            Position (m) and quaternion x, y, z, w of the root link in the world.
        """

    def root_com_frame(self) -> tuple[Vector, Quaternion]:
        """Read the frame at the root link's centre of mass, with the axes of the link's frame.

        Returns
        -------
        position : (3,) floats
            Centre of mass of the root link, world frame, m.
        rotation : (4,) floats
            Quaternion x, y, z, w of the root link's frame in the world.
        """

    def place(self, base: Array, positions: Array) -> None:
        """Set the pose of the robot, at rest.

        Parameters
        ----------
        base : (7,) array
            Pose of the root link: x, y, z (m), quaternion x, y, z, w.
        positions : (n,) array
            Joint positions in the order of `robot.joint_names`, rad.
        """

    def apply_joint_torques(self, torques: Array) -> None:
        """Apply torques to the joints during the next step.

        Parameters
        ----------
        torques : (n,) array
            Joint torques in the order of `robot.joint_names`, N·m.
        """


class Fixture(Body, Protocol):
    """A piece of equipment, built from its mechanism, in a world."""

    @property
    def mechanism(self) -> Mechanism:
        """Description that the fixture was built from."""

    @property
    def furniture(self) -> BodyHandle | None:
        """Body that carries a fixture that stands freely."""

    @property
    def furniture_links(self) -> Mapping[str, LinkHandle]:
        """Handles of the furniture's links by name."""

    def read_state(self) -> FixtureState:
        """Read joint positions and velocities and the pose of the fixture.

        Returns
        -------
        FixtureState
            State after the last step.
        """

    @property
    def explicit_damping(self) -> Array:
        """Damping (J,) of the joints by their speed before a step, N·s/m or N·m·s, beside `read_motion`."""

    def read_motion(self) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """Read what the energy of the joints follows from.

        Returns
        -------
        position, velocity, effort : (J,) array_like
            State, and friction in the last step, N or N·m; 0 where `World.solved_forces` has its work.
        """

    def joint_state(self, column: int) -> tuple[float, float]:
        """Read the position and the velocity of one joint.

        Parameters
        ----------
        column : int
            Index of the joint in `mechanism.joints`.

        Returns
        -------
        position, velocity : float
            m and m/s, or rad and rad/s.
        """

    def apply_joint_effort(self, column: int, effort: float) -> None:
        """Apply a force or torque to one joint during the next step, beside its friction.

        Parameters
        ----------
        column : int
            Index of the joint in `mechanism.joints`.
        effort : float
            Force (N) of a prismatic joint, torque (N·m) of a revolute one.
        """

    def place(self, position: Array, stand: Array | None = None) -> None:
        """Set the joint positions and the pose of the fixture, at rest.

        Parameters
        ----------
        position : (J,) array
            Joint positions, m or rad.
        stand : (7,) array, optional
            Pose of the fixture's frame: x, y, z (m), quaternion x, y, z, w; unchanged by default.
        """


class RigidBody(Protocol):
    """A single rigid body that moves freely."""

    def pose(self) -> tuple[Vector, Array]:
        """Read the pose of the body.

        Returns
        -------
        position : (3,) floats
            Centre of mass, world frame, m.
        rotation : (3, 3) array
            Rotation matrix of the principal axes in the world.
        """

    def apply_force(self, force: Vector, point: Vector) -> None:
        """Apply a force during the next step.

        Parameters
        ----------
        force : (3,) floats
            Force, world axes, N.
        point : (3,) floats
            Point of application, world frame, m.
        """


class World(Protocol):
    """A physics world with gravity and a floor at z = 0. Worlds can coexist in a process."""

    @property
    def timestep(self) -> float:
        """Duration of a step, s."""

    @property
    def floor(self) -> BodyHandle:
        """The floor, for contacts."""

    @property
    def scratch(self) -> Path:
        """Directory for files that the engine must read, removed with the world."""

    def step(self) -> None:
        """Advance the physics by one time step."""

    def add_robot(self, robot: Robot, base: Array, positions: Array) -> RobotBody:
        """Put a robot into the world, at rest.

        The root is fixed only if the robot's description says so. Neither motors nor damping of the
        engine's own act on the joints, inertia is the description's, and of the self-collision pairs only
        those are active that the robot lists.

        Parameters
        ----------
        robot : Robot
            Robot to add.
        base : (7,) array
            Pose of the root link: x, y, z (m), quaternion x, y, z, w.
        positions : (n,) array
            Joint positions in the order of `robot.joint_names`, rad.

        Returns
        -------
        RobotBody
            The robot in this world.
        """

    def add_fixture(self, mechanism: Mechanism) -> Fixture:
        """Build a mechanism in the world, in its initial state.

        Furniture does not move: it is fixed to the world, as is a mechanism that does not stand freely.
        Coulomb friction holds a joint at rest, and end stops hold its range. Parts of one mechanism do not
        collide with each other, since its joints guide them, except for one that stands freely with what
        carries it; all collide with everything else.

        Parameters
        ----------
        mechanism : Mechanism
            Description of the equipment.

        Returns
        -------
        Fixture
            The equipment in this world.
        """

    def add_rigid_body(self, mass: float, moments: Array, rotation: Quaternion) -> RigidBody:
        """Add a rigid body without shape at the origin, at rest.

        Parameters
        ----------
        mass : float
            kg.
        moments : (3,) array
            Principal moments of inertia about the centre of mass, kg·m².
        rotation : (4,) floats
            Quaternion x, y, z, w of the principal axes in the world.

        Returns
        -------
        RigidBody
            The body in this world.
        """

    def add_surface(self, mesh: Path, grey: float, center: Sequence[float], texture: Path | None) -> None:
        """Add a visible surface that nothing collides with.

        Parameters
        ----------
        mesh : Path
            Wavefront OBJ file with texture coordinates and normals, m.
        grey : float
            Grey level that the texture is multiplied by, 0..1.
        center : two floats
            Position of the mesh's origin on the ground, world frame, m.
        texture : Path or None
            Picture file that covers the mesh.
        """

    def show_window(
        self, body: RobotBody, target: Vector, distance: float, angles: tuple[float, float]
    ) -> None:
        """Let the window, which shows nothing yet, show the world.

        The floor's body is not seen: `add_surface` is there to show one.

        Parameters
        ----------
        body : RobotBody
            Robot in this world.
        target : (3,) floats
            Point in the middle of the window, world frame, m.
        distance : float
            Distance of the camera from the target, m.
        angles : two floats
            Yaw and pitch of the camera, degrees.
        """

    def read_contacts(self) -> Contacts:
        """Read all contacts of the last step.

        Returns
        -------
        Contacts
            Contact points of all bodies.
        """

    def solved_forces(self) -> tuple[Contacts | None, tuple[float, float]]:
        """Tell what the engine's solver found in the last step, for the energy.

        Returns
        -------
        contacts : Contacts or None
            Contact points, of an engine that does not sum up their work itself.
        works : two floats
            Work, since the world opened, of contacts and end stops, and of friction and damping in the joints
            of equipment, of an engine that sums them up itself, J; else zeros.
        """

    def are_links_near(
        self, first: tuple[BodyHandle, LinkHandle], second: tuple[BodyHandle, LinkHandle], distance: float
    ) -> bool:
        """Tell whether two links are within a distance, whether or not they can collide.

        Parameters
        ----------
        first, second : (BodyHandle, LinkHandle)
            The two links, each with its body.
        distance : float
            Largest distance between their surfaces, m.

        Returns
        -------
        bool
            True if they are as near as that.
        """

    def disable_collision(
        self, first: tuple[BodyHandle, LinkHandle], second: tuple[BodyHandle, LinkHandle]
    ) -> None:
        """Let two links pass through each other.

        Parameters
        ----------
        first, second : (BodyHandle, LinkHandle)
            The two links, each with its body.
        """


class UnreadableShapeError(Exception):
    """A mesh that the engine draws, but that cannot be read to measure it."""


class ShapeBoxes(Protocol):
    """Bounding boxes of the visible shapes of a body, fixed in the frames of their links."""

    def corners(self) -> Array:
        """Compute where the boxes are for the present pose of the body.

        Returns
        -------
        (S, 8, 3) array
            Corners of the box of each shape, world frame, m.
        """


class Stage(World, Protocol):
    """A world for pictures, without the floor's body, in which nothing is simulated."""

    def tint(self, body: RobotBody, colour: Sequence[float]) -> None:
        """Give all links of a robot one colour.

        Parameters
        ----------
        body : RobotBody
            Robot in this world.
        colour : four floats
            Red, green, blue and opacity, 0..1; only a window shows less than full opacity.
        """

    def measure_shapes(self, body: BodyHandle, like: BodyHandle) -> ShapeBoxes:
        """Measure the visible shapes of a body.

        Parameters
        ----------
        body : BodyHandle
            Body whose pose the boxes follow.
        like : BodyHandle
            Body loaded from the same files, whose shapes are measured: may be `body` itself. An engine may
            forget the files of what is loaded a second time.

        Returns
        -------
        ShapeBoxes
            Boxes that follow the body.

        Raises
        ------
        UnreadableShapeError
            If a shape cannot be measured.
        """

    def draw(
        self, view: Array, projection: Array, light: Array, width: int, height: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Draw the world.

        Parameters
        ----------
        view : (4, 4) array
            Transform from the world to the camera's axes: x right, y up, -z along the view.
        projection : (4, 4) array
            OpenGL's perspective matrix.
        light : (3,) array
            Vector from the world's origin to the light, m.
        width, height : int
            Size of the picture, pixels.

        Returns
        -------
        colours : (height, width, 4) array of uint8
            Red, green, blue and alpha.
        depth : (height, width) array of float32
            Depth buffer, 0..1.
        """

    def pressed_keys(self) -> set[str]:
        """Read which keys were pressed in the window since the last call.

        Returns
        -------
        set of str
            Among `space`, `left`, `right`, `r`, `l`, `q`; a closed window counts as `q`.
        """


class Engine(Protocol):
    """A physics engine. The functions of a module implement it."""

    def open_world(
        self, timestep: float = 0.001, *, floor_friction: float = 0.8, gui: bool = False
    ) -> AbstractContextManager[World]:
        """Open a world with gravity and a floor; it closes on leaving.

        Parameters
        ----------
        timestep : float
            Duration of a step, s.
        floor_friction : float
            Coulomb coefficient between the floor and a body of friction 1.
        gui : bool
            Whether to open the engine's window, which shows nothing until `World.show_window`.

        Returns
        -------
        context manager of World
            Closes the world on leaving.
        """

    def require_robot(self, robot: Robot) -> None:
        """Refuse a robot that the engine cannot simulate, before anything is planned for it.

        Parameters
        ----------
        robot : Robot
            The robot.

        Raises
        ------
        RobotError
            If the engine would refuse it; the message says what it does not take.
        """

    def require_display(self, option: str = "--gui", alternative: str = "--video") -> None:
        """Refuse where the engine's window cannot open.

        Parameters
        ----------
        option : str
            Option that needs the window, named in the error message.
        alternative : str
            Option to use instead, named in the error message.

        Raises
        ------
        RunError
            If there is no screen.
        """


class PictureEngine(Engine, Protocol):
    """An engine that draws. The functions of a module implement it."""

    def open_stage(self, *, window: bool = False) -> AbstractContextManager[Stage]:
        """Open a world for pictures; it closes on leaving.

        Parameters
        ----------
        window : bool
            Whether to open the engine's window, which shows nothing until `Stage.show_window`.

        Returns
        -------
        context manager of Stage
            Closes the world on leaving.
        """


class EngineLibrary(NamedTuple):
    """Where an engine is, and what it needs."""

    module: str  # Module whose functions implement `Engine`.
    library: str  # Library that has to be installed, as it is imported.
    title: str  # Its name.
    install: str


BULLET, MUJOCO = "bullet", "mujoco"
# Every engine by its name. A new one is a folder that implements `Engine`, and an entry here.
ENGINES = {
    BULLET: EngineLibrary(
        "simbench.sim.bullet",
        "pybullet",
        "PyBullet",
        'pip install pybullet (pybullet-arm64 from Python 3.12 on), or in a clone pip install -e ".[bullet]"',
    ),
    MUJOCO: EngineLibrary(
        "simbench.sim.mujoco",
        "mujoco",
        "MuJoCo",
        'pip install mujoco, or in a clone pip install -e ".[mujoco]"',
    ),
}


def is_installed(name: str) -> bool:
    """Tell whether the library of a physics engine is installed. Returns true if worlds can be opened."""
    return find_spec(ENGINES[name].library) is not None


def usual_engine() -> str:
    """Choose the engine of a simulation for which nobody names one.

    Returns Bullet where it is installed, or nothing is; else MuJoCo.
    """
    return MUJOCO if is_installed(MUJOCO) and not is_installed(BULLET) else BULLET


def open_engine(name: str | None = None) -> Engine:
    """Load a physics engine.

    `name`: one of `ENGINES`; by default the usual one. Returns functions of the engine's module.
    """
    name = usual_engine() if name is None else name
    if not is_installed(name):
        others = [other for other in ENGINES if other != name and is_installed(other)]
        instead = f"; or choose --engine {others[0]}" if others else ""
        _, _, title, install = ENGINES[name]
        raise RunError(f"simulation.engine: {name} needs {title}, which is not installed: {install}{instead}")
    return cast(Engine, import_module(ENGINES[name].module))


def open_picture_engine(purpose: str) -> PictureEngine:
    """Load the engine that draws pictures where our own renderer cannot, and that has a window.

    `purpose`: what it is for, for the message: `simbench replay`. Returns functions of the engine's module,
    whatever engine simulates.
    """
    if not is_installed(BULLET):
        _, _, title, install = ENGINES[BULLET]
        raise RunError(f"{purpose} needs {title}, which is not installed: {install}")
    return cast(PictureEngine, import_module(ENGINES[BULLET].module))
