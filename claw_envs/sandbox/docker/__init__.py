"""Sandboxes out of a container engine's containers; `backend` is where to start reading."""
