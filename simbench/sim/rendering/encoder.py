"""Encode frames as an H.264 video, an animated GIF or an animated WebP, by the ffmpeg of imageio-ffmpeg."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import imageio_ffmpeg

from simbench.sim.rendering.drawing_process import failure_reason
from simbench.sim.rendering.scene_view import Camera

# A quarter less time than `veryfast`, and as good: what else that does is for motion that fills the picture.
QUALITY = ["-crf", "20", "-preset", "superfast", "-x264-params", "mbtree=1:rc-lookahead=10"]
# What `LUMA_CHROMA` of the renderer and ffmpeg's conversion from RGB both write.
COLOURS = [
    "-colorspace",
    "smpte170m",
    "-color_primaries",
    "bt709",
    "-color_trc",
    "bt709",
    "-color_range",
    "tv",
]
SUFFIXES = (".mp4", ".gif", ".webp")
"""Endings of the names of files that can be written."""
# One palette for all frames; an ordered dither compresses better than a diffused one.
_GIF_FILTER = (
    "split[a][b];[a]palettegen=stats_mode=full[p];"
    "[b][p]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle"
)


def _encoding(path: Path, camera: Camera, layout: str) -> list[str]:
    """Options of ffmpeg that write a file with this name."""
    if path.suffix == ".gif":
        return ["-filter_complex", _GIF_FILTER, "-f", "gif", "-loop", "0"]
    if path.suffix == ".webp":
        return ["-vcodec", "libwebp_anim", "-lossless", "0", "-q:v", "80", "-f", "webp", "-loop", "0"]
    even = [] if camera.width % 2 == camera.height % 2 == 0 else ["-vf", "scale=ceil(iw/2)*2:ceil(ih/2)*2"]
    pixels = layout if layout == "nv12" else "yuv420p"
    return ["-vcodec", "libx264", "-pix_fmt", pixels, *even, *COLOURS, *QUALITY, "-movflags", "+faststart"]


class Encoder:
    """A process that encodes. `process`: the process; frames go to its standard input."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        self._process, self._input = process, process.stdin

    @property
    def input(self) -> int:
        """File descriptor to which frames go, one after another."""
        return self._input.fileno()

    def finish(self) -> int:
        """Tell the encoder that there are no more frames, and wait for it. Returns its exit status."""
        self._input.close()
        return self._process.wait()


@contextlib.contextmanager
def open_encoder(path: Path, camera: Camera, layout: str) -> Iterator[Encoder]:
    """Start an encoder, and end it on leaving.

    `path`: file to write; its suffix, one of `SUFFIXES`, says how; `camera`: size and rate of the frames;
    `layout`: ffmpeg's name of their layout: `nv12` or `rgb24`.
    """
    size, rate = f"{camera.width}x{camera.height}", str(Fraction(camera.fps).limit_denominator())
    frames = ["-f", "rawvideo", "-vcodec", "rawvideo", "-s", size, "-pix_fmt", layout, "-r", rate]
    encoding = ["-an", "-v", "error", *_encoding(path, camera, layout)]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", *frames, "-i", "-", *encoding]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, str(path.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            # A signal from the terminal ends this process, which then ends the encoder.
            start_new_session=True,
        )
        encoder = Encoder(process)
        failed = True
        try:
            yield encoder
            failed = encoder.finish() != 0
        except BrokenPipeError:
            pass
        finally:
            process.kill()
            status = encoder.finish()
        if failed:
            errors.seek(0)
            raise OSError(failure_reason(errors.read().decode(errors="replace"), status))
