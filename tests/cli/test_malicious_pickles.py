"""Files that would run a command when they are unpickled: every command refuses them, unexecuted."""

import io
import pickle
import zipfile
import zlib

import numpy as np
import pytest

from simbench.cli.main import main
from simbench.errors import MotionError
from simbench.files.arrays import read_array_file

FRAMES = 8
COMMANDS = {
    "inspect": ("motion", "inspect", "{}"),
    "retarget": ("retarget", "{}", "--robot", "puma560"),
    "run": ("run", "{}", "--robot", "puma560", "--out", "new"),
    "convert": ("convert", "{}", "new.csv", "--robot", "puma560"),
    "verdict": ("verdict", "{}", "--robot", "puma560"),
}


def text(word):
    """A text of protocol 2 and later."""
    return b"X" + len(word).to_bytes(4, "little") + word.encode()


def evil_values(canary):
    """Instructions that leave a value on the stack by running a command, by the way they do it."""
    shell, code = f"touch {canary}", f"open({str(canary)!r}, 'w')"
    return {
        "global, reduce": b"cos\nsystem\n(" + text(shell) + b"tR",
        "stack global, reduce": text("posix") + text("system") + b"\x93" + text(shell) + b"\x85R",
        "subprocess": b"csubprocess\ngetoutput\n" + text(shell) + b"\x85R",
        "eval": b"cbuiltins\neval\n" + text(code) + b"\x85R",
        "exec": b"c__builtin__\nexec\n" + text(code) + b"\x85R",
        "getattr": b"cbuiltins\ngetattr\n(cbuiltins\n__import__\n"
        + text("os")
        + b"\x85R"
        + text("system")
        + b"tR"
        + text(shell)
        + b"\x85R",
        "runstring": b"cnumpy.testing._private.utils\nrunstring\n" + text(code) + b"}\x86R",
        "inst": b"(" + text(shell) + b"ios\nsystem\n",
        "obj": b"(cos\nsystem\n" + text(shell) + b"o",
        "newobj": b"cos\nsystem\n" + text(shell) + b"\x85\x81",
        "newobj_ex": b"cos\nsystem\n" + text(shell) + b"\x85}\x92",
        "build": b"ctypes\nSimpleNamespace\n)\x81}"
        + text("__setstate__")
        + b"cos\nsystem\nsb"
        + text(shell)
        + b"b",
        "persistent": text(shell) + b"Q",
        "extension": b"\x82\x01",
    }


def with_evil(arrays, evil):
    """A pickle of a dict of arrays, with an evil value in it."""
    content = pickle.dumps(arrays, 2)
    assert content.endswith(b"u.")
    return content[:-1] + text("extra") + evil + b"s."


def gmr():
    return {
        "fps": 30.0,
        "root_pos": np.zeros((FRAMES, 3)),
        "root_rot": np.tile([0.0, 0.0, 0.0, 1.0], (FRAMES, 1)),
        "dof_pos": np.zeros((FRAMES, 10)),
        "local_body_pos": None,
    }


def smpl():
    return {"poses": np.zeros((FRAMES, 72)), "trans": np.zeros((FRAMES, 3)), "mocap_framerate": 30.0}


def files(evil):
    """The evil value in each kind of file that is a pickle or holds one."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": ()})
    array = header.getvalue() + with_evil(gmr(), evil)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as stream:
        for name, values in gmr().items():
            member = io.BytesIO()
            np.save(member, array if values is None else values)
            stream.writestr(f"{name}.npy", array if values is None else member.getvalue())
    return {
        "gmr.pkl": with_evil(gmr(), evil),
        "smpl.pkl": with_evil(smpl(), evil),
        "joblib.pkl": zlib.compress(with_evil(gmr(), evil)),
        "objects.npz": archive.getvalue(),
        "objects.npy": array,
    }


@pytest.mark.parametrize("way", evil_values(""))
def test_nothing_is_run_in_any_kind_of_file(tmp_path, way):
    content = files(evil_values(tmp_path / "canary")[way])
    for name, data in content.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(MotionError) as refused:
            read_array_file(path, MotionError)
        assert "\n" not in str(refused.value)
    assert {path.name for path in tmp_path.iterdir()} == set(content)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_runs_what_a_file_says(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    ways = list(evil_values(""))
    names = list(files(b"N"))
    for number, name in enumerate(names):
        way = ways[(number + 3 * list(COMMANDS).index(command)) % len(ways)]
        (tmp_path / name).write_bytes(files(evil_values(tmp_path / "canary")[way])[name])
        status = main([word.replace("{}", name) for word in COMMANDS[command]])
        err = capsys.readouterr().err
        assert (status, err.count("\n"), err[:7]) == (2, 1, "error: "), (name, way, err)
    assert {path.name for path in tmp_path.iterdir()} == set(names)


@pytest.mark.parametrize("way", evil_values(""))
def test_a_body_model_runs_nothing(tmp_path, monkeypatch, capsys, way):
    monkeypatch.chdir(tmp_path)
    np.savez("smpl.npz", **smpl())
    model = {"v_template": np.zeros((9, 3)), "J_regressor": np.zeros((24, 9))}
    (tmp_path / "model.pkl").write_bytes(with_evil(model, evil_values(tmp_path / "canary")[way]))
    assert main(["motion", "inspect", "smpl.npz", "--body-model", "model.pkl"]) == 2
    assert capsys.readouterr().err.startswith("error: model.pkl")
    assert not (tmp_path / "canary").exists()


CALLED_AT_ONCE = sorted(set(evil_values("")) - {"persistent", "extension", "build", "newobj", "newobj_ex"})


@pytest.mark.parametrize("way", CALLED_AT_ONCE)
def test_pythons_own_unpickler_would_run_it(tmp_path, way):
    """The files are what they pretend to be: without simbench's reader the canary is there."""
    canary = tmp_path / "canary"
    content = with_evil(gmr(), evil_values(canary)[way])
    pickle.loads(content)
    assert canary.exists()
