"""Imitation by bones: a robot's whole body moves as the person's, within the limits of its joints and links.

In the order of the computation: `targets` (what the recording asks for), `problem` (costs of single
frames), `barriers` (links that are near each other), `clip` (all frames together), `plan` (from end to end);
`stream` solves frames one by one, live.
"""
