import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.docker.engine import Engine
from claw_envs.sandbox.images.pull import pull


def test_an_image_that_no_registry_gives(engine: Engine) -> None:
    with pytest.raises(UserError, match=r"image 127\.0\.0\.1:1/none cannot be pulled: .*refused"):
        pull("127.0.0.1:1/none")
