#version 330
// Tiles whose joints and edges are averaged over each pixel's extent on the floor.
uniform vec3 base;
uniform vec3 white;
uniform vec2 middle;
in vec2 place;
out vec4 colour;
float joints_before(float x) {
    float joint = floor(x / TILE + 0.5);
    return 2.0 * JOINT * joint + clamp(x - joint * TILE, -JOINT, JOINT);
}
float pale_before(float x) {
    float pair = floor(0.5 * x / TILE);
    return TILE * pair + clamp(x - (2.0 * pair + 1.0) * TILE, 0.0, TILE);
}
void main() {
    vec2 extent = max(abs(dFdx(place)) + abs(dFdy(place)), vec2(1e-5));
    vec2 low = place - 0.5 * extent, high = place + 0.5 * extent;
    float joint = max((joints_before(high.x) - joints_before(low.x)) / extent.x,
                      (joints_before(high.y) - joints_before(low.y)) / extent.y);
    float column = (pale_before(high.x) - pale_before(low.x)) / extent.x;
    float row = (pale_before(high.y) - pale_before(low.y)) / extent.y;
    float level = mix(0.86, 0.895, column + row - 2.0 * column * row) - 0.14 * joint;
    float fade = pow(clamp((length(place - middle) - 1.2) / (FADED - 1.4), 0.0, 1.0), 0.7);
    colour = vec4(base + BACKGROUND / PLAIN * mix(level, PLAIN, fade) * white, 1.0);
}
