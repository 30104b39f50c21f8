"""Pictures by OpenGL without a screen, with shaders that are cheap where a processor draws (llvmpipe)."""
