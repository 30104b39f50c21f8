"""The tensors of an archive that `torch.save` wrote, as NumPy arrays, by PyTorch's weights-only rules.

The archive holds a pickle, `data.pkl`, whose tensors name their storages, `data/0`, `data/1` and so on: flat
arrays, of which a tensor is a view by offset, shape and strides, counted in elements.
"""

import zipfile
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simbench.files.arrays.data_pickle import (
    DataUnpickler,
    MemoryBudget,
    PickleProblem,
    checked_size,
    plain_name,
    read_data_pickle,
)

# NumPy's codes of the element types of storages; a bfloat16 is the upper half of a float32.
_STORAGES = {
    **{"DoubleStorage": "f8", "FloatStorage": "f4", "HalfStorage": "f2", "BFloat16Storage": "u2"},
    **{"LongStorage": "i8", "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1"},
    **{"ByteStorage": "u1", "BoolStorage": "?", "ComplexFloatStorage": "c8", "ComplexDoubleStorage": "c16"},
}
# Element types by themselves are read as their names.
_TYPES = (
    *("float64", "float32", "float16", "bfloat16", "complex64", "complex128"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)
_MOST_AXES = 32


def read_torch_archive(archive: zipfile.ZipFile, pickle_name: str, budget: MemoryBudget) -> Any:
    """Read the contents of an archive, as `read_data_pickle` returns them.

    `pickle_name`: name of the member that holds the pickle; `budget`: memory that the contents may take.
    Storages are read when a tensor needs them, each once; a tensor outside of its storage is refused.
    """
    member = archive.getinfo(pickle_name)
    folder = pickle_name.removesuffix("data.pkl")
    with archive.open(member) as stream:
        return read_data_pickle(
            stream, member.file_size, budget, partial(_TensorUnpickler, archive, folder, budget)
        )


class _TensorUnpickler(DataUnpickler):
    """Unpickler of data that also makes arrays of tensors."""

    def __init__(self, archive: zipfile.ZipFile, folder: str, budget: MemoryBudget, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.archive, self.folder, self.budget = archive, folder, budget
        self.storages: dict[str, NDArray[Any]] = {}
        self.order = "<"
        if f"{folder}byteorder" in archive.NameToInfo:
            with archive.open(f"{folder}byteorder") as stream:
                self.order = ">" if stream.read(3) == b"big" else "<"

    def find_class(self, module: str, name: str) -> Any:
        """Return what makes the data that a name stands for; types of storages and elements are texts."""
        if module == "torch" and (name in _STORAGES or name in _TYPES):
            return name
        made = _REPLACEMENTS.get(f"{module}.{name}")
        if made is not None:
            return getattr(self, made)
        if module.partition(".")[0] == "torch":
            raise PickleProblem(
                f"{plain_name(module)}.{plain_name(name)} is not read; allowed: dense tensors of numbers"
            )
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> NDArray[Any]:
        """Read a storage: a flat array."""
        match pid:
            case ("storage", str(kind), str(key), _, int(count)) if kind in _STORAGES and count >= 0:
                pass
            case _:
                raise PickleProblem("a damaged archive of PyTorch: not a reference to a storage")
        if key not in self.storages:
            element = np.dtype(self.order + _STORAGES[kind])
            size = checked_size((count,)) * element.itemsize
            self.budget.take(size)
            with self.archive.open(f"{self.folder}data/{key}") as stream:
                data = stream.read(size)
            if len(data) != size:
                raise PickleProblem(f"storage {plain_name(key)} ends before its {count} elements do")
            flat = np.frombuffer(data, element)
            if kind == "BFloat16Storage":
                self.budget.take(2 * size)
                flat = (flat.astype(np.uint32) << 16).view(np.float32)
            self.storages[key] = flat
        return self.storages[key]

    def make_tensor(self, storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> NDArray[Any]:
        """Make an array of the view of a storage that a tensor is."""
        size = checked_size(shape)
        parts = (offset, *strides) if isinstance(strides, tuple) and len(strides) == len(shape) else (-1,)
        if (
            type(storage) is not np.ndarray
            or any(type(part) is not int or part < 0 for part in parts)
            or len(shape) > _MOST_AXES
        ):
            raise PickleProblem("a damaged archive of PyTorch: offset or strides of a tensor")
        last = offset + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
        if size and last >= len(storage):
            raise PickleProblem(f"a tensor reaches beyond the {len(storage)} elements of its storage")
        if not size:
            return np.empty(shape, storage.dtype)
        self.budget.take(8 * size)
        steps = [stride * storage.itemsize for stride in strides]
        return np.array(np.lib.stride_tricks.as_strided(storage[offset:], shape, steps))

    def keep_first(self, value: Any, *_: Any) -> Any:
        """Return the first argument: the tensor of a parameter, the numbers of a size, a device's name."""
        return value


# Methods of the unpickler for each name that is read.
_REPLACEMENTS = {
    "torch._utils._rebuild_tensor_v2": "make_tensor",
    **dict.fromkeys(("torch._utils._rebuild_parameter", "torch.Size", "torch.device"), "keep_first"),
}
