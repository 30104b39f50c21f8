"""What C and C++ print is hidden; Python's own text comes through, whatever thread prints it."""

import ctypes
import os
import subprocess
import sys
import threading

import pinocchio as pin
import pytest

from simbench.robot.native_output import quiet_native_output

LIBC = ctypes.CDLL(None)
CODE = """
import ctypes, os, sys
from simbench.robot.native_output import quiet_native_output
libc = ctypes.CDLL(None)
print("before")
with quiet_native_output("stdout"):
    libc.puts(b"of a driver")
    os.write(1, b"raw\\n")
    print("during: \\u00e9", flush=True)
    libc.perror(b"an error")
libc.puts(b"native after")
"""


def test_python_is_heard_meanwhile_and_native_output_again_afterwards():
    done = subprocess.run([sys.executable, "-uc", CODE], capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    assert lines == ["before", "raw", "during: é", "native after"]
    assert done.stderr.startswith(b"an error")


def test_a_closed_standard_output_stays_closed():
    code = f"import os; os.close(1)\n{CODE.partition('print')[0]}with quiet_native_output(): pass\n"
    code += "try:\n    os.fstat(1)\nexcept OSError:\n    raise SystemExit(3)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 3


def test_what_urdfdom_says_is_hidden_and_seen_again(capfd):
    def parse():
        with pytest.raises(ValueError, match="URDF"):
            pin.buildModelFromXML("<robot/>")

    with quiet_native_output():
        with quiet_native_output("stderr"):
            parse()
        parse()
    assert capfd.readouterr() == ("", "")
    parse()
    assert "robot" in capfd.readouterr().err


def test_threads_hide_and_print_at_the_same_time(capfd):
    """Nothing of what Python prints is lost, and the streams of C are their own in the end."""
    names = ("stdout", "stderr")
    before = [ctypes.c_void_p.in_dll(LIBC, name).value for name in names]

    def work(number):
        for k in range(200):
            with quiet_native_output():
                LIBC.puts(b"hidden")
                os.write(1, f"{number} {k}\n".encode())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    LIBC.fflush(None)
    shown = capfd.readouterr().out.splitlines()
    assert sorted(shown) == sorted(f"{number} {k}" for number in range(8) for k in range(200))
    assert [ctypes.c_void_p.in_dll(LIBC, name).value for name in names] == before
