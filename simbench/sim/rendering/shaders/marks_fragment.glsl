#version 330
// Support polygon and discs, with distances in pixels, so that all edges are equally soft.
uniform vec2 polygon[CORNERS];
uniform int corners;
uniform vec2 points[2];
uniform vec3 tones[3];
uniform float strength;
in vec2 place;
out vec4 colour;
vec4 over(vec4 below, vec3 tone, float opacity) {
    return vec4(mix(below.rgb, tone, opacity), mix(below.a, 1.0, opacity));
}
void main() {
    colour = vec4(0.0);
    if (corners >= 3) {
        float edge = 1e9, inside = -1.0;
        for (int k = 0; k < corners; k++) {
            vec2 a = polygon[k], b = polygon[k + 1 < corners ? k + 1 : 0], p = gl_FragCoord.xy - a;
            vec2 along = b - a;
            float foot = clamp(dot(p, along) / max(dot(along, along), 1e-9), 0.0, 1.0);
            edge = min(edge, length(p - foot * along));
            if ((a.y > gl_FragCoord.y) != (b.y > gl_FragCoord.y)
                && p.x < along.x * p.y / along.y) inside = -inside;
        }
        colour = over(colour, tones[0], FILL * clamp(0.5 + inside * edge, 0.0, 1.0));
        colour = over(colour, tones[0], clamp(0.5 * LINE_WIDTH + 0.5 - edge, 0.0, 1.0));
    }
    vec2 extent = 0.5 * (abs(dFdx(place)) + abs(dFdy(place)));
    float pixel = max(length(extent), 1e-6);
    for (int k = 0; k < 2; k++) {
        float distance = (DISC_RADIUS - length(place - points[k])) / pixel;
        colour = over(colour, tones[k + 1], clamp(0.5 + distance, 0.0, 1.0));
    }
    colour *= strength;
}
