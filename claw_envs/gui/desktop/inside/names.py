"""Headers that our own server and its client add to OSWorld's protocol."""

IDENTITY = "X-Claw-Envs-Server"
"""In every answer: a word that each start of the server makes anew, so that a machine that was restarted is told."""
SECRET = "X-Claw-Envs-Secret"
"""In every request, where the server was started with one: machines that share a network cannot use each other's."""
SECRET_VARIABLE = "CLAW_ENVS_SECRET"
"""Of the environment, where the server finds it at its start."""
