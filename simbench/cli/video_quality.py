"""`--video=preview`, an option with a value that may be left out, in options that have none."""

from collections.abc import Sequence

from simbench.errors import SimbenchError

_QUALITIES = {"full": ("--video",), "preview": ("--video", "--fast")}


def spell_out_video_quality(arguments: Sequence[str]) -> list[str]:
    """Replace `--video=QUALITY`.

    The parser would take what follows an option whose value may be left out, such as the scenario's name, for
    its value. `arguments`: arguments of the command line. Returns arguments with `--video` and `--fast`
    instead.
    """
    spelled: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return [*spelled, *arguments[position:]]
        name, separator, quality = argument.partition("=")
        if name != "--video" or not separator:
            spelled.append(argument)
        elif quality in _QUALITIES:
            spelled += _QUALITIES[quality]
        else:
            raise SimbenchError(f"--video={quality}: allowed: {', '.join(_QUALITIES)}")
    return spelled
