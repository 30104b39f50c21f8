"""Runs made by hand for videos: with a recorded person, and with an end of their own."""

import numpy as np
import xarray as xr
from run_by_hand import puma_log, write_puma_run

from simbench.runs.log import write_log

PERSON_NAMES = ("pelvis", "neck", "right_wrist")
START, SPREAD = 0.5, 1.0
"""Time of the run at the recording's first sample, and the duration of the recording in it, s."""


def person_variables(points, names, robot_point, robot_time):
    """Variables of a log that hold a person: (T, N, 3) points, m, at times of the run, s."""
    count = len(robot_time)
    dims = ("recording", "body_point", "xyz")
    units = {"units": "m"}
    return xr.Dataset(
        {
            "recording_time": ("recording", 0.5 * (robot_time - robot_time[0]), {"units": "s"}),
            "recording_robot_time": ("recording", robot_time, {"units": "s"}),
            "direction_error": (("recording", "limb"), np.zeros((count, 1)), {"units": "rad"}),
            "person_point": (dims, points, units),
            "robot_point": (dims, robot_point, units),
        },
        {"limb": ["trunk"], "body_point": list(names)},
    )


def raising_person():
    """A pelvis, a neck and a wrist that is raised by 0.5 m during the recording: (11, 3, 3), m."""
    points = np.tile([(0.3, 0.2, 0.9), (0.3, 0.2, 1.4), (0.6, 0.2, 0.9)], (11, 1, 1))
    points[:, 2, 2] += np.linspace(0.0, 0.5, 11)
    return points


def write_run_with_person(folder):
    """Write a run of the PUMA beside which a person raises a hand."""
    write_puma_run(folder)
    points = raising_person()
    clock = START + SPREAD * np.linspace(0.0, 1.0, 11)
    person = person_variables(points, PERSON_NAMES, np.full_like(points, np.nan), clock)
    log = puma_log()
    log = log.assign_coords({"xyz": ["x", "y", "z"]}) if "xyz" not in log.coords else log
    write_log(xr.merge([log, person], combine_attrs="override"), folder / "log.nc")
    return folder


def write_run_with_flags(folder, *overrides, samples=201):
    """Write a run of the PUMA whose log says which joints are fingers: none."""
    write_puma_run(folder, *overrides, samples=samples)
    log = puma_log(samples)
    flags = {name: ("joint", np.zeros(6, bool), {"units": ""}) for name in ("is_grip", "is_arm")}
    extra = {"wave": ("time", 2.0 * log["time"].values, {"units": "m"})}
    write_log(log.assign(flags | extra), folder / "log.nc")
    return folder
