"""Inverse optimal control: the weights of criteria that reproduce a recorded motion (Tomić 2018, ch. 4)."""
