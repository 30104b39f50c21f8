"""Shaders. They write colours in the space of the picture: RGB, or luma and chroma of a video.

Light is added and multiplied in linear light, and encoded by the exponent 1 / GAMMA. Either space is affine
in encoded colours: `base` is black and `base + white` is white. A power of a product is the product of the
powers: so the shadow on the floor is a factor in either space, and a video needs no pass that converts it.
"""

_BODIES = """
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
"""

SOLID_VERTEX = (
    _BODIES
    + """
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
"""
)

# Cosines are interpolated over a triangle: on the small triangles of a curved surface this is what an
# interpolated normal gives, and a fragment costs half.
SOLID_FRAGMENT = """
#version 330
uniform vec3 base;
uniform mat3 space;
uniform float opacity;
in vec3 tone;
in vec3 in_light;
in vec4 facing;
out vec4 colour;
#ifdef SHADOWS
uniform sampler2DShadow shadow;
// Percentage-closer filter: four samples, each of which the texture unit interpolates from four.
float lit_share() {
    const float r = 1.0 / SHADOW_PIXELS;
    return 0.25 * (texture(shadow, in_light + vec3(-0.4 * r, -r, 0.0))
                   + texture(shadow, in_light + vec3(r, -0.4 * r, 0.0))
                   + texture(shadow, in_light + vec3(0.4 * r, r, 0.0))
                   + texture(shadow, in_light + vec3(-r, 0.4 * r, 0.0)));
}
#else
float lit_share() { return 1.0; }
#endif
void main() {
    float lit = lit_share();
    float highlight = max(facing.y, 0.0);
    highlight *= highlight;
    highlight *= highlight;
    highlight *= highlight;
    highlight *= highlight;
    // Light from the sky and from the floor (hemisphere), from the camera, and from the lamp.
    float around = mix(GROUND, SKY, 0.5 + 0.5 * facing.z) + FILL_LIGHT * max(facing.w, 0.0);
    vec3 linear = tone * (around + KEY * max(facing.x, 0.0) * lit) + HIGHLIGHT * highlight * lit;
    colour = vec4(base + space * pow(min(linear, 1.0), vec3(1.0 / GAMMA)), opacity);
}
"""

CASTER_VERTEX = _BODIES + "void main() { gl_Position = clip * vec4(to_world(vec4(position, 1.0)), 1.0); }\n"
CASTER_FRAGMENT = """
#version 330
void main() {}
"""

FLOOR_VERTEX = """
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
"""

# Tiles whose joints and edges are averaged over each pixel's extent on the floor.
TILES_FRAGMENT = """
#version 330
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
"""

# Blended with what is there: colour + alpha * what is there. Percentage-closer soft shadows (Fernando, NVIDIA
# 2005): the mean distance of what is before the floor gives the width of the penumbra.
SHADE_FRAGMENT = """
#version 330
uniform vec3 base;
uniform sampler2DShadow shadow;
uniform sampler2D shadow_depth;
#ifdef GHOSTS
uniform sampler2DShadow ghost_shadow;
uniform sampler2D ghost_depth;
#endif
// Radius of a penumbra in the map, per difference of depth, and the largest difference.
uniform vec2 softness;
in vec3 in_light;
out vec4 colour;
// Spiral with equal area for each sample (Vogel).
vec2 spiral(int k, int count) {
    float angle = 2.399963 * float(k);
    return sqrt((float(k) + 0.5) / float(count)) * vec2(cos(angle), sin(angle));
}
float lit_share(sampler2DShadow compared, sampler2D depth) {
    float sum = 0.0, found = 0.0, reach = softness.x * softness.y;
    for (int k = 0; k < SEARCH_SAMPLES; k++) {
        float there = textureLod(depth, in_light.xy + reach * spiral(k, SEARCH_SAMPLES), 0.0).r;
        float before = step(there, in_light.z - 1e-4);
        sum += before * there;
        found += before;
    }
    float radius = max(softness.x * (in_light.z - sum / max(found, 1.0)), 0.7 / SHADOW_PIXELS);
    // The loop ends at once where there is no shadow, which is most of the floor.
    int count = found > 0.0 ? SHADE_SAMPLES : 0;
    float lit = 0.0;
    for (int k = 0; k < SHADE_SAMPLES; k++) {
        if (k >= count) break;
        lit += textureLod(compared, in_light + vec3(radius * spiral(k, SHADE_SAMPLES), 0.0), 0.0);
    }
    return count > 0 ? lit / float(SHADE_SAMPLES) : 1.0;
}
void main() {
    float lit = lit_share(shadow, shadow_depth);
#ifdef GHOSTS
    lit *= 0.5 + 0.5 * lit_share(ghost_shadow, ghost_depth);
#endif
    float factor = pow(UMBRA + (1.0 - UMBRA) * lit, 1.0 / GAMMA);
    colour = vec4(base * (1.0 - factor), factor);
}
"""

# Support polygon and discs, with distances in pixels, so that all edges are equally soft.
MARKS_FRAGMENT = """
#version 330
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
"""

SQUARE_VERTEX = """
#version 330
in vec2 corner;
out vec2 place;
void main() {
    gl_Position = vec4(2.0 * corner - 1.0, 0.0, 1.0);
    place = corner;
}
"""

# Where luma has no edge, the depth test keeps the smoothing, which costs ten times this, from running.
EDGES_FRAGMENT = """
#version 330
uniform sampler2D picture;
out float luma;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    luma = texelFetch(picture, p, 0).r;
    float n = texelFetch(picture, p - ivec2(0, 1), 0).r, s = texelFetch(picture, p + ivec2(0, 1), 0).r;
    float w = texelFetch(picture, p - ivec2(1, 0), 0).r, e = texelFetch(picture, p + ivec2(1, 0), 0).r;
    float high = max(max(max(n, s), max(w, e)), luma);
    float range = high - min(min(min(n, s), min(w, e)), luma);
    // The outermost pixels have no neighbours on one side: what is read there is black.
    ivec2 last = textureSize(picture, 0) - 1;
    bool inner = all(greaterThan(p, ivec2(0))) && all(lessThan(p, last));
    gl_FragDepth = inner && range > max(0.05, 0.11 * high) ? 1.0 : 0.0;
}
"""

# Lottes, FXAA (NVIDIA 2009), version 3.11 for quality: where an edge ends on both sides says how much of a
# pixel lies beyond it.
SMOOTH_FRAGMENT = """
#version 330
uniform sampler2D picture;
out float luma;
float at(ivec2 p) { return texelFetch(picture, p, 0).r; }
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    float m = at(p), n = at(p - ivec2(0, 1)), s = at(p + ivec2(0, 1));
    float w = at(p - ivec2(1, 0)), e = at(p + ivec2(1, 0));
    float nw = at(p + ivec2(-1, -1)), ne = at(p + ivec2(1, -1));
    float sw = at(p + ivec2(-1, 1)), se = at(p + ivec2(1, 1));
    float range = max(max(max(n, s), max(w, e)), m) - min(min(min(n, s), min(w, e)), m);
    float across_rows = abs(nw - 2.0 * w + sw) + 2.0 * abs(n - 2.0 * m + s) + abs(ne - 2.0 * e + se);
    float across_columns = abs(nw - 2.0 * n + ne) + 2.0 * abs(w - 2.0 * m + e) + abs(sw - 2.0 * s + se);
    bool flat_edge = across_rows >= across_columns;
    float before = flat_edge ? n : w, after = flat_edge ? s : e;
    bool backward = abs(before - m) >= abs(after - m);
    float other = backward ? before : after;
    ivec2 side = (flat_edge ? ivec2(0, 1) : ivec2(1, 0)) * (backward ? -1 : 1);
    ivec2 along = flat_edge ? ivec2(1, 0) : ivec2(0, 1);
    float middle = 0.5 * (m + other), ending = 0.25 * abs(other - m);
    float one = SEARCH, two = SEARCH, end_one = 0.0, end_two = 0.0;
    // Farther and farther: whoever sees a long edge does not see where exactly it ends.
    bool found_one = false, found_two = false;
    for (int k = 1; k <= SEARCH; k *= 2) {
        ivec2 q = p + k * along;
        float v = 0.5 * (at(q) + at(q + side)) - middle;
        if (!found_one) { end_one = v; one = float(k); found_one = abs(v) >= ending; }
        q = p - k * along;
        v = 0.5 * (at(q) + at(q + side)) - middle;
        if (!found_two) { end_two = v; two = float(k); found_two = abs(v) >= ending; }
        if (found_one && found_two) break;
    }
    bool leaves = (m < middle) != ((one < two ? end_one : end_two) < 0.0);
    float shift = leaves ? 0.5 - min(one, two) / (one + two) : 0.0;
    float around = (2.0 * (n + s + w + e) + nw + ne + sw + se) / 12.0;
    float lone = clamp(abs(around - m) / max(range, 1e-6), 0.0, 1.0);
    lone = lone * lone * (3.0 - 2.0 * lone);
    luma = mix(m, other, max(shift, 0.75 * lone * lone));
}
"""

CHROMA_FRAGMENT = """
#version 330
uniform sampler2D picture;
in vec2 place;
out vec2 chroma;
void main() { chroma = texture(picture, place).gb; }
"""

LUMA_FRAGMENT = """
#version 330
uniform sampler2D picture;
out float luma;
void main() { luma = texelFetch(picture, ivec2(gl_FragCoord.xy), 0).r; }
"""

BACKDROP_FRAGMENT = """
#version 330
uniform sampler2D backdrop;
out vec4 colour;
void main() { colour = texelFetch(backdrop, ivec2(gl_FragCoord.xy), 0); }
"""


def with_constants(source: str, constants: dict[str, float], flags: tuple[str, ...] = ()) -> str:
    """Define names in a shader.

    `source`: text of the shader; `constants`: value of each name; whole numbers are written as such; `flags`:
    names that are defined without a value. Returns text with the definitions after its version.
    """
    lines = [f"#define {name} {value!r}" for name, value in constants.items()]
    lines += [f"#define {name}" for name in flags]
    version, _, rest = source.lstrip().partition("\n")
    return "\n".join([version, *lines, rest])
