"""Scripts and style of an interactive report, bundled by `scripts/tools/build_report_scripts.py`."""

import base64
import functools
import hashlib
from pathlib import Path

from simbench.runs.report.packing import compress

SCRIPTS = Path(__file__).resolve().parent / "scripts"
"""Sources of the scripts, as they are edited."""
ASSETS = Path(__file__).resolve().parent / "bundle"
"""Bundled scripts and style, as reports contain them."""

LOADER = """
(async () => {
  const open = async (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const say = (text) => {
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = text;
    document.getElementById("player").append(note);
  };
  try {
    if (typeof DecompressionStream === "undefined") {
      say("This browser is too old for scene and plots; Chromium 90, Firefox 113 and Safari 16.4 show them.");
      return;
    }
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(await open("simbench-script"));
    document.head.append(script);
    window.simbenchReport.start(await open("simbench-data"));
  } catch (error) {
    say("The scene and the plots could not be built: " + error);
    throw error;
  }
})();
"""
"""Unpacks and starts the bundled script; the page has no other script that runs by itself."""


def sources_digest() -> str:
    """Compute the digest of the scripts' sources.

    Returns SHA-256 of their names and contents, hexadecimal.
    """
    digest = hashlib.sha256()
    for path in sorted(SCRIPTS.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def read_asset(name: str) -> str:
    """Read a file of the bundle. `name`: `report.js`, `report.css` or `licences.txt`. Returns its text."""
    return (ASSETS / name).read_text(encoding="utf-8")


@functools.cache
def packed_script() -> str:
    """Compress the bundled script for a page. Returns base64 of gzip."""
    return compress(read_asset("report.js").encode())


def content_policy() -> str:
    """Write the content security policy of a report: no network, and no script but ours.

    Returns value of the meta element `Content-Security-Policy`.
    """
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in (LOADER, read_asset("report.js")))
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
