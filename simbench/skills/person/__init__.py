"""The recorded person as a kinematic model with anatomical joints."""
