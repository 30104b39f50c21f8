void main() { gl_Position = clip * vec4(to_world(vec4(position, 1.0)), 1.0); }
