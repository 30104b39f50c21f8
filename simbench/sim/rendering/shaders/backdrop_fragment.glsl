#version 330
uniform sampler2D backdrop;
out vec4 colour;
void main() { colour = texelFetch(backdrop, ivec2(gl_FragCoord.xy), 0); }
