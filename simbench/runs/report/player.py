"""Content of the interactive part of a report: scenes, panels and timelines of its runs."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simbench.errors import SimbenchError
from simbench.files.text import printable
from simbench.runs.report.assets import LOADER, packed_script
from simbench.runs.report.packing import Packer
from simbench.runs.report.panels import make_panels, pack_joints, pack_panels
from simbench.runs.report.scene import make_scene
from simbench.runs.report.timeline import describe_lanes, make_lanes
from simbench.runs.video import load_drawn_run
from simbench.sim.rendering.renderer_choice import UndrawableShapeError

if TYPE_CHECKING:
    from simbench.runs.report.report import RunReport

NO_SCRIPT = (
    "The scene, the timeline and the plots need scripts, which this browser does not run. "
    "Verdict and tables are complete without them."
)


def player_html(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    """Write the interactive part of a page.

    `labels`: name of each. Returns HTML: the element in which the scripts build scene, timeline and plots,
    their data, and the scripts.
    """
    return (
        '<section id="player" aria-label="playback">'
        f'<noscript><p class="note">{html.escape(NO_SCRIPT)}</p></noscript></section>\n'
        f'<script type="application/octet-stream" id="simbench-data">{pack_runs(reports, labels)}</script>\n'
        f'<script type="application/octet-stream" id="simbench-script">{packed_script()}</script>\n'
        f"<script>{LOADER}</script>"
    )


def pack_runs(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    """Collect and compress what the scripts show.

    `reports`: runs of the page; `labels`: name of each. Returns base64 of the block that `scripts/data.js`
    reads.
    """
    packer = Packer()
    runs = [_describe_run(report, label, packer) for report, label in zip(reports, labels, strict=True)]
    return packer.pack({"version": 1, "runs": runs})


def _describe_run(report: RunReport, label: str, packer: Packer) -> dict[str, Any]:
    """Describe one run in the page's document."""
    scene, reason = None, ""
    try:
        scene = make_scene(load_drawn_run(report.folder, log=report.log), packer)
    except (SimbenchError, UndrawableShapeError) as error:
        # An old run's robot or meshes may be gone; curves and tables need neither.
        reason = printable(" ".join(str(error).split()))
    return {
        "label": printable(label),
        "scene": scene,
        "noScene": reason,
        "joints": pack_joints(report.log, packer),
        **pack_panels(make_panels(report.log, report.grip), report.log, packer),
        "lanes": describe_lanes(make_lanes(report.log, report.failures)),
    }
