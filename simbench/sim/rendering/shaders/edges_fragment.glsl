#version 330
// Where luma has no edge, the depth test keeps the smoothing, which costs ten times this, from running.
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
