#version 330
// Lottes, FXAA (NVIDIA 2009), version 3.11 for quality: where an edge ends on both sides says how much of a
// pixel lies beyond it.
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
