import os
import select
import signal
import subprocess
import sys

import pytest

from simbench.runs.run_directory import shielded_from_interrupt
from simbench.system.termination import TERMINATING, Terminated, describe_signal, orderly_termination

PARENT = """
import multiprocessing, sys, time
from simbench.system.termination import exit_with_parent

def wait(pipe):
    exit_with_parent()
    pipe.send(1)
    time.sleep(600)

if __name__ == "__main__":
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    process = context.Process(target=wait, args=(there,))
    process.start()
    here.recv()
    print(process.pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=TERMINATING)
def number(request):
    """A suite under nohup inherits a SIGHUP that is ignored."""
    before = signal.signal(request.param, signal.SIG_DFL)
    yield request.param
    signal.signal(request.param, before)


def test_a_signal_raises_where_it_arrives_and_its_handler_is_gone_afterwards(number):
    def work():
        with orderly_termination() as signals:
            try:
                os.kill(os.getpid(), number)
            finally:
                assert signals == [number]

    with pytest.raises(Terminated) as caught:
        work()
    assert caught.value.number == number
    assert isinstance(caught.value, KeyboardInterrupt)
    assert str(caught.value) == f"ended by {number.name}"
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_second_signal_does_not_interrupt_what_the_first_lets_end(number):
    ended = []

    def work():
        with orderly_termination():
            try:
                os.kill(os.getpid(), number)
            finally:
                os.kill(os.getpid(), number)
                ended.append(True)

    with pytest.raises(Terminated):
        work()
    assert ended == [True]


def test_an_ignored_signal_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)
    with orderly_termination() as signals:
        os.kill(os.getpid(), number)
        assert not signals
    assert signal.getsignal(number) is signal.SIG_IGN


def test_a_shield_holds_these_signals_back(number):
    done = []

    def work():
        with orderly_termination(), shielded_from_interrupt() as interrupted:
            os.kill(os.getpid(), number)
            done.append(interrupted())

    with pytest.raises(Terminated) as caught:
        work()
    assert done == [True]
    assert caught.value.number == number


def test_ctrl_c_has_a_name_of_its_own():
    assert describe_signal(signal.SIGINT) == "interrupted"


def test_a_worker_ends_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        worker = int(parent.stdout.readline())
        descriptor = os.pidfd_open(worker)
        parent.kill()
        parent.wait()
        # It is readable once the process has ended; a worker that stays lets this wait for ever.
        select.select([descriptor], [], [])
        os.close(descriptor)
