"""The Pinocchio model of a URDF, whose frames have names of their own."""

import os

import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.native_output import quiet_native_output


def build_model(text: str, where: str | os.PathLike[str], *, floating: bool = False) -> pin.Model:
    """Build the Pinocchio model of a URDF.

    A link and a joint may share a name, which two frames then have: the frame of the link keeps it, the other
    becomes `NAME (joint)`. `where`: its file, for the error; `floating`: whether the root link moves freely.
    """
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    try:
        with quiet_native_output():
            model = pin.buildModelFromXML(text, *root)
    except (ValueError, RuntimeError) as error:
        raise RobotError(f"{os.fspath(where)}: not a URDF that Pinocchio can read: {error}") from error
    links = {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    for frame in model.frames:
        if frame.type != pin.FrameType.BODY and frame.name in links:
            frame.name += " (joint)"
    return model
