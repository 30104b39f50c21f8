"""Reads what `simbench.runs.report.page_data` writes, by the description of the format."""

import base64
import gzip
import json

import numpy as np


def unpack(letters):
    """The document and the bytes of the arrays."""
    block = gzip.decompress(base64.b64decode(letters))
    length = int.from_bytes(block[:4], "little")
    return json.loads(block[4 : 4 + length]), block[4 + length :]


def read_signals(reference, data):
    """Channels (T, C) as the documentation of the format says: planes of low and high bytes, zigzag, sums."""
    count, channels = reference["count"], []
    for channel, (low, step) in enumerate(zip(reference["low"], reference["step"], strict=True)):
        at = reference["at"] + 2 * count * channel
        code, values = 0, []
        for sample in range(count):
            zigzag = data[at + sample] + 256 * data[at + count + sample]
            code = (code + ((zigzag >> 1) ^ -(zigzag & 1))) % 65536
            values.append(np.nan if code == 65535 else low + code * step)
        channels.append(values)
    return np.array(channels).T
