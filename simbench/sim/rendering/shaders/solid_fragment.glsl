#version 330
// Cosines are interpolated over a triangle: on the small triangles of a curved surface this is what an
// interpolated normal gives, and a fragment costs half.
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
