#version 330
layout(std140) uniform Bodies { vec4 rows[3 * BODIES]; };
uniform mat4 clip;
uniform int first_body;
in vec3 position;
in int body;
vec3 to_world(vec4 local) {
    int row = 3 * (body - first_body);
    return vec3(dot(rows[row], local), dot(rows[row + 1], local), dot(rows[row + 2], local));
}
