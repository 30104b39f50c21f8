"""Calibration of arms from recorded motions (Ohtsuki, Shikata & Noborio).

`arm_recording` reads motions, `kinematic_calibration.calibrate_table` estimates the Denavit-Hartenberg table
and `dynamic_calibration.calibrate_dynamics` the base parameters.
"""
