"""Pictures by OpenGL through EGL: small shaders that are cheap where a processor draws, as Mesa's llvmpipe."""
