"""Bundle the scripts of interactive reports, at a release or when one of them changes.

python scripts/tools/build_report_scripts.py

The sources are in simbench/runs/report/scripts, beside the versions of three.js, uPlot and esbuild
(package.json, package-lock.json). With Node.js, npm and a network, this makes what a report contains, in
simbench/runs/report/bundle: report.js, report.css and licences.txt. A test compares the digest of the sources
in the first line of report.js with the sources, so that the bundle is not forgotten.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from simbench.runs.report.page_data import ASSETS, SCRIPTS, sources_digest

OPTIONS = ("--bundle", "--minify", "--charset=ascii", "--legal-comments=none", "--log-level=warning")
TARGET = "--target=chrome90,firefox113,safari16.4"
PACKAGES = {"three": "three.js", "uplot": "uPlot"}


def build(folder: Path) -> None:
    """Install the packages in a folder, and write the bundle from there."""
    for source in SCRIPTS.iterdir():
        shutil.copy(source, folder / source.name)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=True)
    esbuild = [str(folder / "node_modules" / ".bin" / "esbuild"), *OPTIONS, TARGET]
    subprocess.run([*esbuild, "main.js", "--format=iife", "--outfile=report.js"], cwd=folder, check=True)
    subprocess.run([*esbuild, "report.css", "--outfile=built.css"], cwd=folder, check=True)
    versions, licences = [], []
    for package, name in PACKAGES.items():
        root = folder / "node_modules" / package
        version = json.loads((root / "package.json").read_text(encoding="utf-8"))["version"]
        versions.append(f"{name} {version}")
        licences.append(f"{name} {version}\n\n{(root / 'LICENSE').read_text(encoding='utf-8').strip()}\n")
    head = f"/* simbench report; contains {', '.join(versions)} (MIT); sources {sources_digest()} */\n"
    ASSETS.mkdir(exist_ok=True)
    script = (folder / "report.js").read_text(encoding="utf-8")
    (ASSETS / "report.js").write_text(head + script, encoding="utf-8")
    (ASSETS / "report.css").write_text((folder / "built.css").read_text(encoding="utf-8"), encoding="utf-8")
    (ASSETS / "licences.txt").write_text("\n\n".join(licences), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        build(Path(temporary))
    for path in sorted(ASSETS.iterdir()):
        print(f"{path.stat().st_size:8d}  {path}")
