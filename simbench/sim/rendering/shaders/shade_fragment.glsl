#version 330
// Blended with what is there: colour + alpha * what is there. Percentage-closer soft shadows (Fernando, NVIDIA
// 2005): the mean distance of what is before the floor gives the width of the penumbra.
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
