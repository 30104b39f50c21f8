"""Small URDFs for tests, put together from text."""


def link(name, mass=1.0, inertia=(0.1, 0.1, 0.1), inside="", cog="0 0 0"):
    """A link; mass None leaves out the inertial."""
    if mass is None:
        return f'<link name="{name}">{inside}</link>'
    ixx, iyy, izz = inertia
    return (
        f'<link name="{name}"><inertial><origin xyz="{cog}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>{inside}</link>'
    )


LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="5"/>'


def joint(name, parent, child, kind="revolute", inside=LIMIT, axis="0 1 0", xyz="0 0 -0.3", rpy="0 0 0"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{inside}</joint>'
    )


def mesh(file_name, role="visual"):
    return f'<{role}><geometry><mesh filename="{file_name}"/></geometry></{role}>'


def robot(*elements):
    return f'<robot name="test">{"".join(elements)}</robot>'


def write(folder, *elements):
    path = folder / "robot.urdf"
    path.write_text(robot(*elements), encoding="utf-8")
    return path
