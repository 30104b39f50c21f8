#version 330
uniform mat4 clip;
uniform mat4 to_light;
in vec2 corner;
out vec3 in_light;
out vec2 place;
void main() {
    vec4 world = vec4(corner, 0.0, 1.0);
    gl_Position = clip * world;
    in_light = (to_light * world).xyz;
    place = corner;
}
