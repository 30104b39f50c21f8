"""The process that serves the scene of a run to web browsers; it reads its messages from the standard input.

A process of its own, so that the simulation does not wait for what browsers are sent.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.sim.rendering.scene_view import COG, DISC_RADIUS, SUPPORT, TILE, ZMP, Camera, Solid

if TYPE_CHECKING:
    import viser


# The bodies of a scene, at the beginning: name of the run; surface of each body; where the scene is seen from
# at first; time that the run is to last, s.
SceneMessage = tuple[str, tuple[Solid, ...], Camera, float]
# Frames that have been simulated since the last message: time of each, s, (F,); their records, (F,) of
# `record_type`: poses of all bodies, COG, ZMP and support polygon.
FramesMessage = tuple[NDArray[np.float64], NDArray[np.void]]


class EndMessage(NamedTuple):
    """The run has ended."""

    words: str  # What came of it, in one line.
    wait: bool  # Whether to go on for a browser that has not come yet.


class Status(NamedTuple):
    """What the serving process says, as a line of its output."""

    kind: Literal["ready", "failed"]  # Whether the scene is served, or cannot be.
    words: str  # Its address, or the reason.


_RATE = 30.0  # Pictures per second.
# Time, s, by which the scene is behind the simulation: what is further behind is caught up with.
_BACKLOG = 1.0
_PORTS = 20  # Number of ports that are tried.
# Time, s, without any browser after which the last one has gone: a page that is loaded again is away that
# long.
_LEAVING = 2.0
_ABOVE = 0.002  # Height of what is drawn on the floor, m.


class _Playback:
    """Frames so far, and which of them is shown."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.times: list[Array] = []
        self.records: list[Any] = []
        self.end: EndMessage | None = None
        self.known = 0.0  # Time of the last frame, s.
        self._joined = 0
        self._time_array, self._record_array = np.empty(0), np.empty(0)

    def add(self, message: FramesMessage) -> None:
        with self.lock:
            times, records = message
            self.times.append(times)
            self.records.append(records)
            self.known = float(times[-1])

    def frame_at(self, time_s: float) -> Any:
        """Find the frame at a time; None before there is one."""
        with self.lock:
            if not self.times:
                return None
            if self._joined < len(self.times):
                self._time_array = np.concatenate([self._time_array, *self.times[self._joined :]])
                parts = self.records[self._joined :]
                self._record_array = np.concatenate([self._record_array, *parts] if self._joined else parts)
                self._joined = len(self.times)
            index = int(
                np.clip(np.searchsorted(self._time_array, time_s - 1e-9), 0, len(self._time_array) - 1)
            )
            return self._record_array[index]


class _Controls:
    """What a visitor can change: time, pace and layers."""

    def __init__(self, server: viser.ViserServer, duration: float) -> None:
        gui = server.gui
        gui.configure_theme(control_layout="collapsible", show_logo=False, show_share_button=False)
        self.status = gui.add_markdown("waiting for the simulation")
        self.time: Any = gui.add_slider("time (s)", 0.0, max(duration, 0.01), 0.01, 0.0)
        self.play = gui.add_checkbox("play", True)
        self.follow: Any = gui.add_checkbox("follow the simulation", True)
        self.speed = gui.add_slider("speed", 0.1, 4.0, 0.1, 1.0)
        self.balance = gui.add_checkbox("COG, ZMP, support polygon", True)
        self.floor = gui.add_checkbox("floor", True)
        self.shown = 0.0  # Time that the slider was set to by us: another value is a visitor's.


def serve(messages: IO[bytes], answers: IO[str], host: str, first_port: int) -> None:
    """Serve a scene until its run has ended and no browser shows it.

    `messages`: pickled messages of the simulating process; `answers`: where `Status` lines go; `host`:
    address to listen on; `first_port`: first port to try.
    """
    # An extra of simbench; this module is read without it where all modules are.
    import viser
    import websockets.asyncio.server as web

    usual = web.serve

    def guarded(*places: Any, process_request: Callable[[Any, Any], Any], **options: Any) -> Any:
        def answer(connection: Any, request: Any) -> Any:
            if is_foreign(request.headers, host):
                return connection.respond(403, "only for pages that this address itself serves\n")
            return process_request(connection, request)

        return usual(*places, process_request=answer, **options)

    vars(web)["serve"] = guarded
    scene: SceneMessage = pickle.load(messages)
    try:
        # The first port from the given one on that nobody listens on; of the last one, the refusal.
        for port in range(first_port, first_port + _PORTS):
            with contextlib.closing(socket.socket()) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    trial.bind((host, port))
                except OSError:
                    if port == first_port + _PORTS - 1:
                        raise
                else:
                    break
        server = viser.ViserServer(host=host, port=port, verbose=False)
    except OSError as error:
        _answer(answers, Status("failed", f"{host}:{first_port}: {error.strerror or error}"))
        return
    handles = _build_scene(server, scene)
    controls = _Controls(server, scene[-1])
    playback = _Playback()
    reader = threading.Thread(target=_read, args=(messages, playback), daemon=True)
    reader.start()
    shown = "localhost" if host in ("127.0.0.1", "0.0.0.0") else host
    _answer(answers, Status("ready", f"http://{shown}:{server.get_port()}"))
    _play(server, handles, controls, playback)
    server.stop()


def is_foreign(headers: Mapping[str, str], host: str) -> bool:
    """Tell whether a request comes through a name that is not ours, or from a page of somebody else.

    A name of somebody else may lead to this machine, and its pages then count as of the same origin; numbers
    cannot. `headers`: of the request; `host`: address that is listened on.
    """
    address = headers.get("Host", "")
    name = (urlsplit(f"//{address}").hostname or "").lower()
    own = name in ("localhost", host.lower(), socket.gethostname().lower())
    if not own:
        with contextlib.suppress(ValueError):
            own = bool(ipaddress.ip_address(name))
    return not own or headers.get("Origin", f"http://{address}") != f"http://{address}"


def _answer(answers: IO[str], status: Status) -> None:
    answers.write(json.dumps(status._asdict()) + "\n")
    answers.flush()


def _read(messages: IO[bytes], playback: _Playback) -> None:
    """Take messages until the last one; a simulating process that vanished has ended."""
    while True:
        try:
            message = pickle.load(messages)
        except (EOFError, pickle.UnpicklingError):
            message = EndMessage("the simulation ended without a word", wait=False)
        if isinstance(message, EndMessage):
            playback.end = message
            return
        playback.add(message)


def _build_scene(server: viser.ViserServer, scene: SceneMessage) -> dict[str, Any]:
    """Add bodies, floor, light and camera."""
    title, solids, camera, _ = scene
    server.scene.set_up_direction("+z")
    server.gui.set_panel_label(title)
    yaw, pitch = np.radians([camera.yaw_deg, camera.pitch_deg])
    # As Bullet's camera: yaw 0 looks along +y.
    away = np.array([np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), -np.sin(pitch)])
    target = np.array(camera.target_m)
    server.initial_camera.position = tuple(target + camera.distance_m * away)
    server.initial_camera.look_at = tuple(target)
    server.initial_camera.fov = float(np.radians(camera.fov_deg))
    floor = server.scene.add_grid(
        "/floor",
        cell_size=TILE,
        section_size=2.0 * TILE,
        infinite_grid=True,
        plane_opacity=1.0,
        plane_color=(236, 236, 236),
        cell_color=(212, 212, 212),
        section_color=(196, 196, 196),
        fade_distance=20.0,
        shadow_opacity=0.35,
    )
    root = server.scene.add_frame("/bodies", show_axes=False, visible=False)
    bodies = []
    for number, solid in enumerate(solids):
        mesh = trimesh.Trimesh(
            solid.points,
            solid.triangles,
            vertex_normals=solid.normals,
            vertex_colors=np.column_stack([solid.colours, np.full(len(solid.points), 255, np.uint8)]),
            process=False,
        )
        bodies.append(server.scene.add_mesh_trimesh(f"/bodies/{number}", mesh))
    disc = trimesh.creation.cylinder(2.0 * DISC_RADIUS, 2.0 * _ABOVE, sections=32)
    marks = {
        name: server.scene.add_mesh_simple(
            f"/balance/{name}", disc.vertices, disc.faces, color=colour, cast_shadow=False, visible=False
        )
        for name, colour in (("cog", COG), ("zmp", ZMP))
    }
    support = server.scene.add_line_segments(
        "/balance/support",
        np.zeros((1, 2, 3)),
        SUPPORT,
        thickness=3.0,
        thickness_units="screen",
        visible=False,
    )
    return {"root": root, "bodies": bodies, "floor": floor, "support": support, **marks}


def _play(
    server: viser.ViserServer, handles: dict[str, Any], controls: _Controls, playback: _Playback
) -> None:
    """Show one frame after the other, until the run has ended and the last browser has gone."""
    seen, alone = False, time.monotonic()
    last, at, drawn = time.monotonic(), 0.0, -1.0
    while True:
        now = time.monotonic()
        if server.get_clients():
            seen, alone = True, now
        end = playback.end
        if end is not None and now - alone > _LEAVING and (seen or not end.wait):
            return
        if controls.time.value != controls.shown:
            # Of a visitor, who then wants to look at that moment.
            at, controls.follow.value = controls.time.value, False
        elif controls.play.value:
            behind = playback.known - at
            pace = max(1.0, behind / _BACKLOG) if controls.follow.value else controls.speed.value
            at = min(at + pace * (now - last), playback.known)
        last = now
        frame = playback.frame_at(at)
        if frame is not None:
            with server.atomic():
                _show(handles, controls, frame, moved=at != drawn)
                drawn = at
                controls.time.value = controls.shown = round(at, 2)
                words = end.words if end is not None else f"simulated up to {playback.known:.1f} s"
                if controls.status.content != words:
                    controls.status.content = words
        time.sleep(1.0 / _RATE)


def _show(handles: dict[str, Any], controls: _Controls, frame: Any, *, moved: bool) -> None:
    """Move all bodies, and what is on the floor; show and hide what a visitor asks for and the frame has."""
    corners = frame["support"][np.isfinite(frame["support"][:, 0])]
    present = {name: bool(np.isfinite(frame[name]).all()) for name in ("cog", "zmp")}
    present["support"] = len(corners) > 2
    if moved:
        for body, pose in zip(handles["bodies"], frame["poses"].astype(float), strict=True):
            quaternion = pin.Quaternion(pose[:, :3]).coeffs()
            body.wxyz = quaternion[[3, 0, 1, 2]]
            body.position = pose[:, 3]
        for name in ("cog", "zmp"):
            if present[name]:
                handles[name].position = (*frame[name].tolist(), _ABOVE)
        if present["support"]:
            points = np.column_stack([corners, np.full(len(corners), _ABOVE)])
            handles["support"].points = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
    wanted = {name: controls.balance.value and there for name, there in present.items()}
    for name, visible in {**wanted, "floor": controls.floor.value, "root": True}.items():
        if handles[name].visible != visible:
            handles[name].visible = visible


def main() -> None:
    """Serve the scene from the standard input; the arguments are the address and the first port."""
    # Ctrl-C is the simulating process's to act on: it ends this one by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    # What libraries print is not an answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, own, sys.argv[1], int(sys.argv[2]))
