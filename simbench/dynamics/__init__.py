"""Dynamics of serial arms given by a Denavit-Hartenberg table.

`arm.read_arm` reads an arm, `newton_euler.inverse_dynamics` computes torques by the recursion, and
`model_library.explicit_model_of` finds its explicit model, evaluated by `evaluation.explicit_torques`.
`calibration` estimates an arm's table and dynamics from recorded motions.
"""
