"""Labels of markers in a file: those that are no names, prefixes that all share, and names that repeat."""

import re

from simbench.motion.readers.slips import Slips

# Names that programs give to points that are not labelled.
UNLABELLED = re.compile(r"(\*\d*|(uname|unlabell?ed|unknown|no.?name|unnamed).*|u\d+)?", re.IGNORECASE)


def is_unlabelled(label: str) -> bool:
    """Tell whether a label is one that a program gives to points that nobody has named.

    `label`: the label, with or without a prefix that ends in a colon. Returns whether it is no name.
    """
    return UNLABELLED.fullmatch(label.rpartition(":")[2]) is not None


def drop_shared_prefix(names: list[str]) -> tuple[list[str], list[str]]:
    """Drop a prefix that ends in a colon and that all names share.

    `names`: names of markers. Returns `names`: the names without it; `notes`: what was dropped, as a line for
    the user; empty if nothing was.
    """
    prefixes = {name.partition(":")[0] if ":" in name else "" for name in names}
    prefix = next(iter(prefixes), "")
    if len(prefixes) != 1 or not prefix:
        return names, []
    return [name[len(prefix) + 1 :] for name in names], [f"prefix of all names dropped: {prefix}:"]


def keep_first_of_each_name(names: list[str], seen: list[int], slips: Slips, where: str) -> list[int]:
    """Choose one of several tracks that have the same name: the one that is seen in most frames.

    `seen`: number of frames in which each is seen; `slips`: takes the doubt; `where`: what the tracks are in
    the file, for the message, with a placeholder for their numbers and the name. Returns indices of the
    tracks that are kept, in order. Raises MotionError A name is there twice, and nothing may be assumed.
    """
    kept = []
    for name in dict.fromkeys(names):
        same = [k for k, other in enumerate(names) if other == name]
        best = max(same, key=lambda k: (seen[k], -k))
        if len(same) > 1:
            slips.doubt(
                where.format(", ".join(str(k + 1) for k in same), repr(name[:40])),
                f"the one that is seen longest is taken, {seen[best]} frames",
            )
        kept.append(best)
    return sorted(kept)
