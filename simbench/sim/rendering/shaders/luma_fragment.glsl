#version 330
uniform sampler2D picture;
out float luma;
void main() { luma = texelFetch(picture, ivec2(gl_FragCoord.xy), 0).r; }
