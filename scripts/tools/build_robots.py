"""Write each robot's URDF and meshes from its robot.yaml, or check that the committed files are up to date.

python scripts/tools/build_robots.py [--check]
"""

import argparse
import filecmp
import sys
import tempfile
from pathlib import Path

from simbench.resources import resource_dir
from simbench.robot.description import read_description
from simbench.robot.urdf.urdf_writer import write_urdf


def build(source: Path, target: Path) -> list[Path]:
    """Build the robot of a robot.yaml into the folder `target`, remove stale meshes, and return the files."""
    files = write_urdf(read_description(source), target)
    for mesh in set(target.glob("meshes/*.obj")) - set(files):
        mesh.unlink()
    return files


def find_differences(source: Path) -> list[str]:
    """List the committed files of a robot that a fresh build does not reproduce byte for byte."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)
        names = {str(path.relative_to(target)) for path in build(source, target)}
        committed = {str(path.relative_to(source.parent)) for path in source.parent.glob("meshes/*.obj")}
        _, differing, missing = filecmp.cmpfiles(
            source.parent, target, sorted(names | committed), shallow=False
        )
    return sorted(differing + missing)


def main() -> int:
    """Build or check every robot whose robot.yaml describes how to build it; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    check = parser.parse_args().check
    stale = 0
    for source in sorted(resource_dir("robots").glob("*/robot.yaml")):
        if not read_description(source).links:
            continue
        if check:
            names = find_differences(source)
            stale += len(names)
            print(f"{source.parent.name}: {'out of date: ' + ', '.join(names) if names else 'up to date'}")
        else:
            print(f"{source.parent.name}: {len(build(source, source.parent))} files")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
