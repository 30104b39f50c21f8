#version 330
uniform sampler2D picture;
in vec2 place;
out vec2 chroma;
void main() { chroma = texture(picture, place).gb; }
