"""Traces: decimated signals of a scenario's baseline, with the envelope that rounding was seen to fill."""
