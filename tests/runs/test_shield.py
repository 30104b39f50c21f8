import os
import signal

import pytest

from simbench.runs.run_directory import shielded_from_interrupt


@pytest.fixture(autouse=True)
def interruptible():
    """A suite started in the background of a script inherits a SIGINT that is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_for_the_block_and_then_happens():
    done = []

    def work():
        with shielded_from_interrupt() as interrupted:
            done.append(interrupted())
            os.kill(os.getpid(), signal.SIGINT)
            done.append(interrupted())

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [False, True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_happens_without_an_interrupt():
    with shielded_from_interrupt():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_an_interrupt_is_ignored_it_stays_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with shielded_from_interrupt() as interrupted:
        os.kill(os.getpid(), signal.SIGINT)
        assert not interrupted()
