"""Archives of PyTorch give the arrays that PyTorch gives, and damaged ones one line."""

import contextlib
import io
import pickle
import random
import zipfile

import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.files.arrays import UNNAMED, read_array_file


def tensor(key, count, offset, shape, strides, kind="Float"):
    """Instructions of a pickle that make a tensor as PyTorch writes it."""

    def whole(number):
        return b"J" + number.to_bytes(4, "little", signed=True)

    storage = b"(X\x07\x00\x00\x00storagectorch\n%bStorage\nX\x01\x00\x00\x00%bX\x03\x00\x00\x00cpu" % (
        kind.encode(),
        key.encode(),
    )
    view = whole(offset) + b"(" + b"".join(map(whole, shape)) + b"t(" + b"".join(map(whole, strides)) + b"t"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + whole(count) + b"tQ" + view + b"\x89NtR"


def archive(pickled, storages):
    """An archive of a pickle and its storages."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("motion/data.pkl", b"\x80\x02" + pickled + b".")
        made.writestr("motion/byteorder", b"little")
        for key, data in storages.items():
            made.writestr(f"motion/data/{key}", data)
    return stream.getvalue()


def read(path, content):
    path.write_bytes(content)
    return read_array_file(path, MotionError)


NUMBERS = np.arange(24.0, dtype=np.float32)


def test_tensors_are_views_of_their_storages(tmp_path):
    pickled = tensor("0", 24, 2, (3, 2), (6, 1))
    made = read(tmp_path / "a.pt", archive(pickled, {"0": NUMBERS.tobytes()}))[UNNAMED]
    np.testing.assert_array_equal(made, NUMBERS.reshape(4, 6)[:3, 2:4])
    turned = tensor("0", 24, 0, (6, 4), (1, 6))
    made = read(tmp_path / "a.pt", archive(turned, {"0": NUMBERS.tobytes()}))[UNNAMED]
    np.testing.assert_array_equal(made, NUMBERS.reshape(4, 6).T)


def test_bfloat16_is_the_upper_half_of_a_float(tmp_path):
    values = np.array([1.0, -2.5, 3.140625], dtype=np.float32)
    upper = (values.view(np.uint32) >> 16).astype(np.uint16)
    pickled = tensor("0", 3, 0, (3,), (1,), "BFloat16")
    made = read(tmp_path / "a.pt", archive(pickled, {"0": upper.tobytes()}))[UNNAMED]
    np.testing.assert_array_equal(made, values)


@pytest.mark.parametrize(
    ("pickled", "words"),
    [
        (tensor("0", 24, 0, (5, 6), (6, 1)), "beyond the 24 elements"),
        (tensor("0", 24, 23, (2,), (1,)), "beyond the 24 elements"),
        (tensor("0", 24, 0, (2,), (-1,)), "offset or strides"),
        (tensor("0", 24, -1, (2,), (1,)), "offset or strides"),
        (tensor("0", 25, 0, (2,), (1,)), "ends before its 25 elements"),
        (tensor("0", 2**30, 0, (2,), (1,)), "allowed: 50000000 numbers"),
        (tensor("0", 1, 0, (2**15, 2**15), (0, 0)), "allowed: 50000000 numbers"),
        (tensor("1", 24, 0, (2,), (1,)), "damaged"),
        (tensor("0", 24, 0, (2,), (1,), "Quantised"), "torch.QuantisedStorage is not read"),
        (b"ctorch.jit\nload\n(X\x01\x00\x00\x00atR", "torch.jit.load is not read"),
        (b"cos\nsystem\n(X\x02\x00\x00\x00lstR", "names os.system is not read"),
        (b"X\x01\x00\x00\x00aQ", "not a reference to a storage"),
    ],
)
def test_what_is_no_tensor_of_the_archive_is_refused(tmp_path, pickled, words):
    with pytest.raises(MotionError, match=words) as caught:
        read(tmp_path / "a.pt", archive(pickled, {"0": NUMBERS.tobytes()}))
    assert "\n" not in str(caught.value)


def test_files_from_before_archives_say_how_to_write_one(tmp_path):
    with pytest.raises(MotionError, match=r"torch.save\(CONTENT"):
        read(tmp_path / "a.pt", pickle.dumps(0x1950A86A20F9469CFC6C, 2))


def test_damaged_archives_are_refused_in_one_line(tmp_path):
    rng = random.Random(5)
    pickled, storages = tensor("0", 24, 2, (3, 2), (6, 1)), {"0": NUMBERS.tobytes()}

    def damage(content):
        content = bytearray(content)
        for _ in range(rng.choice((1, 2, 5))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        return bytes(content[: rng.randrange(len(content)) if rng.random() < 0.2 else None])

    # The archive itself, which its sums of the contents protect, and the pickle in it.
    for number in range(600):
        content = damage(archive(pickled, storages)) if number % 2 else archive(damage(pickled), storages)
        with contextlib.suppress(MotionError):
            read(tmp_path / "a.pt", content)


def test_pytorch_gives_the_same(tmp_path):
    torch = pytest.importorskip("torch")
    base = torch.arange(24.0).reshape(4, 6)
    content = {
        "smpl_params_global": {"transl": base[1:3, ::2], "body_pose": base.t()},
        "kinds": [
            base.half(),
            base.double(),
            torch.arange(5),
            torch.tensor([True, False]),
            torch.tensor(2.5),
        ],
        "wide": torch.ones(1, 3).expand(5, 3),
        "parameter": torch.nn.Parameter(base),
        "none": torch.empty(0, 3),
    }
    path = tmp_path / "a.pt"
    torch.save(content, path)
    found = read_array_file(path, MotionError)
    for name, value in content["smpl_params_global"].items():
        np.testing.assert_array_equal(found["smpl_params_global"][name], value.numpy())
    for one, other in zip(found["kinds"], content["kinds"], strict=True):
        np.testing.assert_array_equal(one, other.numpy())
        assert one.dtype == other.numpy().dtype
    for name in ("wide", "parameter", "none"):
        np.testing.assert_array_equal(found[name], content[name].detach().numpy())
    torch.save(content, path, _use_new_zipfile_serialization=False)
    with pytest.raises(MotionError, match="PyTorch tensors"):
        read_array_file(path, MotionError)
