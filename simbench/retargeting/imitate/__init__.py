"""Imitation by bones: a robot's whole body moves as the person's, within the limits of its joints and links.

In the order of the computation: `problem` (what the recording asks for, and costs of single frames), `clip`
(all frames together, and links that are near each other), `plan` (from end to end, or frames one by one,
live).
"""
