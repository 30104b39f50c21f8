"""Balance of a robot on its feet (Kim, Choi, Oh & You 2005).

`controller` feeds COG and ZMP back and embeds the arms' motion, `gait` plans and carries out steps,
`standing` plans pelvis and legs of a robot that stands, and `push_recovery` reacts to pushes.
"""
