"""The parts of the validation: which script makes which file of results, in full and reduced.

`{work}` in arguments is a folder of the part's own, `{tomic2018_ch4}` that of another part.
"""

from dataclasses import dataclass

TASKS = "valves,drawer,canoe_paddles,steering_wheel,pump,knife,grater,hand_drill"
"""Chapter 5 studies by itself, of all people, each task that the table of chapter 4 does not have."""


@dataclass(frozen=True)
class Part:
    """A script that makes one file of results.

    Parameters
    ----------
    name : str
        Name of the file of results, without its suffix.
    script : str
        Path of the script in scripts/reproduce.
    full, quick : str
        Its arguments, for the pages and reduced.
    jobs : bool
        Whether the script has `--jobs`.
    after : tuple of str
        Names of the parts whose folders it reads.
    product : str
        File in its folder that others read; empty if none does.
    sized : tuple of str
        First words of the bounds that only the full size can be held to.
    unsteady : tuple of (str, str, str)
        What no other machine repeats: times, rounding errors, and motions that take another way after one.
        First words of a table's title, a column, and first words of rows; empty for all columns or rows.
    """

    name: str
    script: str
    full: str = ""
    quick: str = ""
    jobs: bool = False
    after: tuple[str, ...] = ()
    product: str = ""
    sized: tuple[str, ...] = ()
    unsteady: tuple[tuple[str, str, str], ...] = ()


PARTS = (
    Part(
        "armstrong1986",
        "armstrong1986/armstrong1986.py",
        quick="--states 200",
        unsteady=(("Greatest difference", "", ""),),
    ),
    Part(
        "kim2005_arm",
        "kim2005_arm/kim2005_arm.py",
        "--pictures docs/pictures/validation",
        "--motions waving",
        # Bounds on the acceleration of what is too fast: processors disagree by a fifth of the error.
        unsteady=(
            ("mahru", "µs/frame", ""),
            ("mahru", "axis max", "waving (642), bounded"),
            ("mahru", "", "signing ×4 (495), bounded"),
        ),
    ),
    Part("kim2005_cog", "kim2005_cog/kim2005_cog.py", "--out {work}", "--out {work} --first"),
    Part(
        "kim2005_cog_ablation",
        "kim2005_cog/ablation.py",
        quick="--engines bullet --motions mahru_wave --own",
        jobs=True,
    ),
    Part(
        "ohtsuki",
        "ohtsuki/ohtsuki.py",
        "--out {work} --draws 6 --pictures docs/pictures/validation",
        "--out {work} --first",
    ),
    Part("tomic2018_ch3", "tomic2018/ch3.py", quick="--actors 1,2 --tasks drawer,knife", jobs=True),
    Part(
        "tomic2018_ch4",
        "tomic2018/ch4.py",
        "--out {work}",
        f"--out {{work}} --actors 1,2,3 --tasks {TASKS} --span 2 4 --no-general",
        jobs=True,
        product="table.parquet",
        sized=("found = hidden",),
    ),
    Part(
        "tomic2018_ch4_models",
        "tomic2018/ch4.py",
        "--model both --actors 1,2,3 --out {work}",
        "--model both --actors 2 --tasks drawer --span 2 4 --no-general --out {work}",
        jobs=True,
        sized=("found = hidden",),
    ),
    Part(
        "tomic2018_noncircular",
        "tomic2018/noncircular.py",
        "--actors 1,2,3,4",
        "--actors 2 --tasks drawer",
        sized=("found = hidden",),
    ),
    Part("tomic2018_single_criteria", "tomic2018/single_criteria.py", quick="--actors 2 --tasks pump"),
    Part("tomic2018_ch3_terms", "tomic2018/ch3_terms.py", "--actors 1,2,3,4", "--actors 1 --tasks drawer"),
    Part(
        "tomic2018_ch5",
        "tomic2018/ch5.py",
        "--out {work} --table {tomic2018_ch4}/table.parquet "
        "--picture docs/pictures/validation/tomic2018_fitness.png",
        "--out {work} --table {tomic2018_ch4}/table.parquet --tuning 2019",
        jobs=True,
        after=("tomic2018_ch4",),
        sized=("optimisation and simbench's rules agree",),
    ),
    Part(
        "tomic2018_recover_weights",
        "tomic2018/recover_weights.py",
        "--count 20",
        "--count 1 --methods lattice",
        unsteady=(("Weights of motions", "s", ""),),
    ),
    Part(
        "tomic2018_transfer_weights",
        "tomic2018/transfer_weights.py",
        quick="--actors 1,2 --tasks drawer,knife",
        jobs=True,
        sized=("drawer: energy alone",),
    ),
)


def prerequisites(script: str) -> tuple[str, ...]:
    """Names of the parts whose results a script, by its path in the repository, is made from."""
    return next((each.after for each in PARTS if script.endswith(f"reproduce/{each.script}")), ())
