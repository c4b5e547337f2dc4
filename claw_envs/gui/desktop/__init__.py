"""A Linux desktop of its own for each episode: Xvfb, a window manager and real applications inside a sandbox."""
