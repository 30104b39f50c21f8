#version 330
in vec2 corner;
out vec2 place;
void main() {
    gl_Position = vec4(2.0 * corner - 1.0, 0.0, 1.0);
    place = corner;
}
