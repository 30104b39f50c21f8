"""Run the scenarios and draw the README's pictures from their logs; print the numbers of its table.

python scripts/make_pictures.py [--out docs/pictures]
"""

import argparse
import tempfile
from pathlib import Path

from simbench.film import render_strip
from simbench.pipeline import run_scenario
from simbench.scenario import load_scenario

MOMENTS = {
    "drawer": (0.5, 2.4, 4.0, 5.45),
    "dance": (3.4, 5.2, 8.4, 10.0),
}
"""Times of the pictures in each strip, s."""

NUMBERS = (
    "fell",
    "retarget.slow_down",
    "imitation.hand_mean_m",
    "tracking.rms_rad",
    "hands.rms_m",
    "zmp.min_margin_m",
    "drawer.travel_ratio",
    "timing.realtime_factor",
)


def main() -> None:
    """Draw all strips."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"), metavar="DIR")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, times in MOMENTS.items():
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            metrics = run_scenario(load_scenario(name), run).metrics
            render_strip(run, out / f"{name}.png", times, width=400, height=400, columns=len(times))
        numbers = (f"{key} {metrics[key]}" for key in NUMBERS if key in metrics)
        print(f"{name}: {', '.join(numbers)}")


if __name__ == "__main__":
    main()
