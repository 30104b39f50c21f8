import numpy as np
import pinocchio as pin
import pytest
import scenes
import trimesh

from simbench.runs.scenario.loading import load_scenario
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.engine import GRAVITY
from simbench.sim.fixtures import fixture_mechanism
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.fixtures.mechanism import handle_poses
from simbench.sim.fixtures.shapes import Board, compute_inertia

DESIGN = scenes.drawer_section(
    position_m=(0.45, 0.02, 0.0), heading_rad=0.1, friction_n=2.0, damping_ns_m=5.0, grip_clearance_m=0.003
)
DRAWER = drawer_mechanism(DESIGN)


def handle_at(opening, mechanism=DRAWER):
    """Poses of both palms (SE3) at one opening (m)."""
    return {side: pin.SE3(poses[0]) for side, poses in handle_poses(mechanism, np.array([[opening]])).items()}


def opening_and_speed(fixture):
    state = fixture.read_state()
    return float(state.position[0]), float(state.velocity[0])


def pull(fixture, force):
    """Apply a force (N) at the drawer's centre of mass along its axis of opening for one step."""
    client = fixture.client
    outward = -pin.utils.rotate("z", DESIGN.heading_rad)[:, 0]
    spot = bullet.getLinkState(fixture.handle, fixture.joints[0], physicsClientId=client)[0]
    bullet.applyExternalForce(
        fixture.handle, fixture.joints[0], outward * force, spot, bullet.WORLD_FRAME, physicsClientId=client
    )


def speed_under(force, time, *, mass, friction, damping):
    """Closed form of m·dv/dt = F − F_c − d·v from rest."""
    return (force - friction) / damping * (1.0 - np.exp(-damping * time / mass))


@pytest.mark.parametrize("force", [0.0, 1.95, -1.95])
def test_stays_at_rest_below_friction(force):
    with open_world() as world:
        drawer = world.add_fixture(DRAWER)
        for _ in range(500):
            pull(drawer, force)
            world.step()
        position, velocity = opening_and_speed(drawer)
    assert position == pytest.approx(0.12, abs=1e-6)
    assert abs(velocity) < 1e-5


@pytest.mark.parametrize("force", [2.5, 5.0])
def test_moves_as_the_closed_form_above_friction(force):
    friction, damping, mass = DESIGN.friction_n, DESIGN.damping_ns_m, DESIGN.mass_kg
    with open_world() as world:
        drawer = world.add_fixture(DRAWER)
        for step in range(1, 301):
            pull(drawer, force)
            world.step()
            if step in (50, 150, 300):
                expected = speed_under(force, step * 1e-3, mass=mass, friction=friction, damping=damping)
                assert opening_and_speed(drawer)[1] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("angle", "moves"), [(0.10, False), (0.14, True)])
def test_slides_when_gravity_is_tilted_beyond_the_friction(angle, moves):
    """The component m·g·sin(angle) along the slide decides: friction 2 N is passed at 0.12 rad."""
    outward = -pin.utils.rotate("z", DESIGN.heading_rad)[:, 0]
    gravity = GRAVITY * (np.sin(angle) * outward - np.array([0.0, 0.0, np.cos(angle)]))
    with open_world() as world:
        drawer = world.add_fixture(DRAWER)
        bullet.setGravity(*gravity, physicsClientId=world.client)
        for _ in range(200):
            world.step()
        velocity = opening_and_speed(drawer)[1]
    weight = DESIGN.mass_kg * GRAVITY * np.sin(angle)
    expected = speed_under(weight, 0.2, mass=DESIGN.mass_kg, friction=2.0, damping=5.0) if moves else 0.0
    assert velocity == pytest.approx(expected, rel=0.02, abs=1e-5)


@pytest.mark.parametrize(("force", "stop"), [(40.0, 0.30), (-40.0, 0.0)])
def test_end_stops_hold(force, stop):
    with open_world() as world:
        drawer = world.add_fixture(DRAWER)
        beyond = 0.0
        for _ in range(1000):
            pull(drawer, force)
            world.step()
            beyond = max(beyond, abs(opening_and_speed(drawer)[0] - 0.15) - 0.15)
        position, velocity = opening_and_speed(drawer)
    assert position == pytest.approx(stop, abs=1e-3)
    assert abs(velocity) < 1e-2
    assert beyond < 5e-3


@pytest.mark.parametrize("opening", [0.0, 0.12, 0.30])
def test_handles_of_bullet_and_of_the_pure_function_agree(opening):
    with open_world() as world:
        drawer = world.add_fixture(DRAWER)
        drawer.place(np.array([opening]))
        assert opening_and_speed(drawer) == (pytest.approx(opening), 0.0)
        poses = handle_at(opening)
        for side, handle in DRAWER.handles.items():
            state = bullet.getLinkState(
                drawer.handle,
                drawer.links[handle.part],
                computeForwardKinematics=True,
                physicsClientId=world.client,
            )
            link = pin.XYZQUATToSE3(np.array([*state[4], *state[5]]))
            difference = pin.log6((link * handle.pose).actInv(poses[side])).vector
            assert np.abs(difference).max() < 1e-6


def test_handles_are_above_the_front_and_converge():
    ahead = DESIGN.model_copy(update={"heading_rad": 0.0, "position_m": (0.45, 0.0, 0.0)})
    poses = handle_at(0.12, drawer_mechanism(ahead))
    # 0.75 table + 0.018 bottom + 0.004 gap + 0.2 front + 0.003 clearance.
    np.testing.assert_allclose(poses["left"].translation, [0.339, 0.2, 0.975], atol=1e-12)
    np.testing.assert_allclose(poses["right"].translation, [0.339, -0.2, 0.975], atol=1e-12)
    assert poses["left"].rotation[1, 0] == pytest.approx(-np.sin(0.26))
    assert poses["right"].rotation[1, 0] == pytest.approx(np.sin(0.26))


def test_a_hand_at_the_handle_does_not_penetrate_the_wood():
    """A palm of 78 × 70 × 24 mm with fingers 14 mm thick that reach 5 cm down behind the front."""
    with open_world() as world:
        client = world.client
        drawer = world.add_fixture(DRAWER)
        palm = bullet.createCollisionShape(
            bullet.GEOM_BOX, halfExtents=[0.039, 0.035, 0.012], physicsClientId=client
        )
        fingers = bullet.createCollisionShape(
            bullet.GEOM_BOX, halfExtents=[0.007, 0.035, 0.025], physicsClientId=client
        )
        for pose in handle_at(0.12).values():
            for shape, offset in ((palm, [0.0, 0.0, 0.012]), (fingers, [0.028, 0.0, -0.025])):
                placed = pose * pin.SE3(np.eye(3), np.array(offset))
                body = bullet.createMultiBody(
                    0.1,
                    shape,
                    basePosition=placed.translation,
                    baseOrientation=pin.SE3ToXYZQUAT(placed)[3:],
                    physicsClientId=client,
                )
                near = bullet.getClosestPoints(body, drawer.handle, 0.1, physicsClientId=client)
                gaps = {name: 1.0 for name in drawer.links}
                for point in near:
                    name = next(name for name, link in drawer.links.items() if link == point[4])
                    gaps[name] = min(gaps[name], point[8])
                assert min(gaps.values()) > 0.001, gaps
                # It must be near, or the test says nothing.
                assert gaps["drawer"] < 0.006


def test_the_front_stops_a_finger():
    """A box dropped on the upper edge of the front comes to rest on it."""
    with open_world() as world:
        client = world.client
        world.add_fixture(DRAWER)
        shape = bullet.createCollisionShape(
            bullet.GEOM_BOX, halfExtents=[0.05, 0.03, 0.01], physicsClientId=client
        )
        over = handle_at(0.12)["left"] * pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.02]))
        body = bullet.createMultiBody(
            0.2,
            shape,
            basePosition=over.translation,
            baseOrientation=pin.SE3ToXYZQUAT(over)[3:],
            physicsClientId=client,
        )
        for _ in range(150):
            world.step()
        height = bullet.getBasePositionAndOrientation(body, physicsClientId=client)[0][2]
    assert height == pytest.approx(0.972 + 0.01, abs=2e-3)


def test_inertia_of_boards_agrees_with_trimesh_integrals():
    boards = [
        Board((0.0, -0.3, 0.7), (0.018, 0.3, 0.9), (1.0, 1.0, 1.0)),
        Board((0.018, -0.2, 0.7), (0.4, 0.3, 0.712), (1.0, 1.0, 1.0)),
    ]
    solid = trimesh.util.concatenate(
        [trimesh.creation.box(bounds=[board.low, board.high]) for board in boards]
    )
    solid.density = 1.7 / solid.volume
    own = compute_inertia(boards, 1.7)
    assert own.mass == pytest.approx(1.7)
    np.testing.assert_allclose(own.lever, solid.center_mass, atol=1e-12)
    np.testing.assert_allclose(own.inertia, solid.moment_inertia, atol=1e-12)


def test_moving_mass_is_the_design_s():
    with open_world() as world:
        drawer = world.add_fixture(DRAWER)
        dynamics = bullet.getDynamicsInfo(drawer.handle, drawer.joints[0], physicsClientId=world.client)
    assert dynamics[0] == pytest.approx(1.7)


def test_a_scenario_s_keys_make_the_mechanism():
    overrides = [f"fixtures.0.{key}={list(v) if isinstance(v, tuple) else v}" for key, v in DESIGN]
    [design] = load_scenario("drawer", overrides).fixtures
    assert design == DESIGN
    made = fixture_mechanism(design)
    assert (made.name, made.start.tolist(), made.parts[2].mass) == ("drawer", [0.12], 1.7)
    assert made.pose.isApprox(pin.SE3(pin.utils.rotate("z", 0.1), np.array([0.45, 0.02, 0.0])), 1e-12)


def test_a_bar_is_held_in_its_axis_and_turned_about():
    """Level before the front, in any heading and convergence: palm and turn axis are in its axis."""
    barred = drawer_mechanism(DESIGN.model_copy(update={"handle": "bar"}))
    bar = next(shape for part in barred.parts for shape in part.shapes if not isinstance(shape, Board))
    ends = np.array([bar.start, bar.end])
    for opening in (0.0, 0.2):
        palms = handle_at(opening, barred)
        for side, palm in palms.items():
            held = barred.handles[side]
            assert held.grip == "pivot"
            assert held.point == (0.0, 0.0, 0.0)
            moved = [barred.pose.act(end - np.array([opening, 0.0, 0.0])) for end in ends]
            along = (moved[1] - moved[0]) / np.linalg.norm(moved[1] - moved[0])
            off = palm.translation - moved[0]
            assert np.linalg.norm(off - (off @ along) * along) < 1e-12
            np.testing.assert_allclose(palm.rotation @ held.axis, along, atol=1e-12)
            # A whole flange of 31 mm in radius has room between the palm's centre and the bar's end.
            assert min(off @ along, np.linalg.norm(moved[1] - moved[0]) - off @ along) > 0.05
    # As far apart and at the same turn as on the edge, 5 cm before the front's face.
    for side, palm in handle_at(0.0, barred).items():
        edge = DRAWER.pose.actInv(handle_at(0.0)[side])
        inside = barred.pose.actInv(palm)
        np.testing.assert_allclose(inside.rotation, edge.rotation, atol=1e-12)
        assert inside.translation[1] == pytest.approx(edge.translation[1])
        assert inside.translation[0] == pytest.approx(-0.05)
