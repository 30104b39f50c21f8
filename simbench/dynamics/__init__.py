"""Dynamics of serial arms given by a Denavit-Hartenberg table.

`arm.read_arm` reads an arm, `arm.inverse_dynamics` computes its torques, and
`explicit_model.explicit_model_of` finds its explicit model, evaluated by `explicit_model.explicit_torques`.
"""
