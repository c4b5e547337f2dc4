"""`claw images pull`: images out of their registry into the container engine.

Not covered: logging in to a registry, which `docker login` does.
"""

from claw_envs.core.errors import UserError
from claw_envs.sandbox.docker.engine import RefusedError, connect
from claw_envs.sandbox.images.store import full_name


def pull(image: str) -> None:
    """Fetch one image, unless the engine has the newest. Blocks, for minutes where it is large.

    Raises:
        UserError: if the registry does not give it.
        InfrastructureError: if the engine does not answer.
    """
    engine = connect()
    try:
        said = engine.explained(lambda: list(engine.api.pull(full_name(image), stream=True, decode=True)))
    except RefusedError as error:
        raise UserError(f"image {image} cannot be pulled: {error}") from error
    if reasons := [line["error"] for line in said if "error" in line]:
        raise UserError(f"image {image} cannot be pulled: {reasons[0]}")
