"""Standard streams that are closed, full or unread."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from simbench.cli.main import BROKEN_PIPE, end_output, guarded_streams, is_broken_pipe
guard = guarded_streams()
guard.__enter__()
made = os.open("/dev/null", os.O_RDONLY)
assert made > 2, made
try:
    print("✓" * int(sys.argv[1]))
    status, message = 0, sys.argv[2]
except OSError as error:
    status, message = 2, f"error: {error.filename}: {error.strerror}"
    if is_broken_pipe(error):
        status, message = BROKEN_PIPE, ""
sys.exit(end_output(status, message))
"""
FULL = "error: standard output: No space left on device\n"
# Less and more than a buffer holds.
SIZES = (1, 100_000)


def run(redirection, size, message="", **variables):
    text = f'exec "$@" {redirection}'
    command = ["bash", "-c", text, "bash", sys.executable, "-c", PROGRAM, str(size), message]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("redirection", "status", "stderr"),
    [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
        ("<&- >&- 2>&-", 0, ""),
        (">/dev/full", 2, FULL),
        (">/dev/full 2>/dev/full", 2, ""),
        ("2>/dev/full", 0, ""),
        ("> >(exec true)", 141, ""),
    ],
)
def test_a_program_ends_as_custom_has_it(redirection, status, stderr, size):
    if "true" in redirection and size == 1:
        pytest.skip("the reader may end before or after a line is written")
    done = run(redirection, size)
    assert (done.returncode, done.stderr.decode()) == (status, stderr)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_command_names_the_full_standard_output():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "simbench", "list", "scenarios"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "latin-1"])
def test_characters_that_cannot_be_written_are_replaced(encoding):
    done = run("", 3, "ü", PYTHONIOENCODING=encoding)
    assert done.returncode == 0
    assert done.stdout.decode(encoding) == ("✓✓✓\n" if encoding == "utf-8" else "???\n")


def test_a_message_that_cannot_be_written_changes_nothing():
    assert run("2>/dev/full", 1, "a line").returncode == 0
    assert run("2>&-", 1, "a line").returncode == 0
    assert run("", 1, "a line").stderr == b"a line\n"
