"""The example at the end of every `--help`."""


def example(*commands: str) -> str:
    """Write what a command's help ends with.

    `*commands`: command lines that can be typed as they are. Returns text whose lines the help leaves as they
    are.
    """
    noun = "Example" if len(commands) == 1 else "Examples"
    # The first line keeps the parser from filling the paragraph.
    return "\n".join(["\b", f"{noun}:", *(f"  {command}" for command in commands)])


def read_examples(text: str | None) -> list[str]:
    """Read the command lines of what `example` has written.

    `text`: what a command's help ends with; None for nothing.
    """
    lines = (text or "").splitlines()
    return [line.strip() for line in lines if line.startswith("  ")]
