uniform mat4 to_light;
uniform vec3 light;
uniform vec3 eye;
uniform float offset;
uniform float above_floor;
in vec3 normal;
in vec3 colour;
out vec3 tone;
out vec3 in_light;
out vec4 facing;
void main() {
    vec3 world = to_world(vec4(position, 1.0));
    vec3 outward = to_world(vec4(normal / 127.0, 0.0));
    vec3 toward = normalize(eye - world);
    vec3 halfway = normalize(light + toward);
    gl_Position = clip * vec4(world, 1.0);
    gl_ClipDistance[0] = above_floor * world.z + (1.0 - above_floor);
    in_light = (to_light * vec4(world + offset * outward, 1.0)).xyz;
    tone = pow(colour, vec3(GAMMA));
    facing = vec4(dot(outward, light), dot(outward, halfway), outward.z, dot(outward, toward));
}
