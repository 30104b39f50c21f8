import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.readers import SCHEMES, read_motion


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("kinect:dance", "unknown motion source 'kinect'; known: actor, deepmimic"),
        ("actor:juggle", "unknown task; known: drawer"),
        ("dance.bvh", r"no reader for \.bvh"),
        ("dance", "without suffix"),
        ("nowhere/dance.txt", "no such file"),
        pytest.param("d" * 5000 + ".txt", "cannot be read", id="name too long"),
        ("", "without suffix"),
    ],
)
def test_unknown_sources_say_what_is_known(source, words):
    with pytest.raises(MotionError, match=words):
        read_motion(source)


@given(st.text(max_size=30).filter(lambda text: text.partition(":")[0] not in SCHEMES))
def test_no_other_error_for_any_text(text):
    with pytest.raises(MotionError):
        read_motion(text)


def test_reading_works_without_the_simulator():
    code = "import sys; from simbench.motion.readers import read_motion; read_motion('deepmimic:walk'); "
    code += "sys.exit('pybullet' in sys.modules or 'pybullet_data' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
