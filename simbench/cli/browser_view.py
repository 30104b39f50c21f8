"""The options of `simbench run` for watching in a web browser."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from simbench.errors import RunError

if TYPE_CHECKING:
    from simbench.runs.live_view import LiveView
    from simbench.runs.result import RunResult

View = Annotated[
    bool, typer.Option("--view", help="Watch in a web browser while it is simulated; needs viser.")
]
Host = Annotated[
    str | None,
    typer.Option(
        "--view-host",
        metavar="ADDRESS",
        help="Address to serve the scene on: 127.0.0.1 unless given, which only this machine sees. "
        "0.0.0.0 shows it to the network.",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--view-port", min=1024, max=65535, metavar="N", help="First port to try, 8080 unless given."
    ),
]
Realtime = Annotated[
    bool,
    typer.Option("--realtime", help="With --view: simulate at the clock's pace, not as fast as it goes."),
]


@contextmanager
def browser_view(
    wanted: bool, host: str | None, port: int | None, realtime: bool
) -> Iterator[LiveView | None]:
    """Prepare a scene that browsers can watch, if it is wanted.

    `wanted`: whether there is to be one; `host`: address to listen on; `port`: first port to try; `realtime`:
    whether the simulation keeps to the clock. Yields the scene; None if it is not wanted.
    """
    given = {"--view-host": host is not None, "--view-port": port is not None, "--realtime": realtime}
    if not wanted:
        alone = next((name for name, present in given.items() if present), None)
        if alone is not None:
            raise RunError(f"{alone}: allowed only with --view")
        yield None
        return
    from simbench.runs.live_view import LiveView
    from simbench.sim.rendering.scene_viewer import LOOPBACK, PORT, Address

    with LiveView(Address(host or LOOPBACK, port or PORT), _tell, realtime=realtime) as view:
        yield view


def _tell(url: str) -> None:
    """Say where the scene is, and open it where there is a browser."""
    print(f"view   {url}", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        try:
            webbrowser.get()
        except webbrowser.Error:
            return
        webbrowser.open(url)


def stay_open(view: LiveView, result: RunResult) -> None:
    """Keep the scene for as long as a browser shows it; in a terminal, also wait for one.

    `result`: outcome of the run, which it then shows in words.
    """
    from simbench.runs.result import describe_checks

    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    if interactive:
        print("the scene stays while a browser shows it; Ctrl-C ends it", file=sys.stderr)
    try:
        view.finish(describe_checks(result.checks), wait=interactive)
    except KeyboardInterrupt:
        # The run is complete: its exit status says what came of it.
        return
