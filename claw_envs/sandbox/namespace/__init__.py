"""Sandboxes out of Linux namespaces, without a daemon; `backend` is where to start reading."""
