"""vLLM's routes for control: what they answer, and how the server has to be started where it lacks one."""

from typing import Any, TypeVar

import msgspec

from claw_envs.core.errors import UserError
from trainers.policies.engines.base import NoRouteError
from trainers.policies.engines.http import EngineHttp

_INFO_SECONDS = 10.0
T = TypeVar("T")


class Weights(msgspec.Struct):
    """Of `/weight_info`."""

    weight_version: str


class World(msgspec.Struct):
    """Of `/get_world_size`."""

    world_size: int


class Paused(msgspec.Struct):
    """Of `/is_paused`."""

    is_paused: bool


class Model(msgspec.Struct):
    """One of `/v1/models`: the first is the plain model."""

    id: str
    max_model_len: int | None = None


class Models(msgspec.Struct):
    """Of `/v1/models`."""

    data: list[Model]


class VLLMRoutes:
    """Calls whose answer is no more than that they succeeded, and questions about the server.

    All raise what `EngineHttp.call` raises, and `UserError` where the server was started without the route.
    """

    def __init__(self, http: EngineHttp, *, timeout: float) -> None:
        """
        Args:
            timeout: seconds for one call; a question has a few.
        """
        self._http, self._timeout = http, timeout

    async def control(
        self, path: str, body: dict[str, Any] | None = None, *, query: dict[str, str] | None = None, retries: int = 0
    ) -> None:
        """A route of the development mode."""
        try:
            await self._post(path, body, query=query, retries=retries)
        except NoRouteError:
            raise self._undeveloped(path) from None

    async def optional(self, path: str) -> bool:
        """A route that only later versions have: whether it is there."""
        try:
            await self._post(path, None)
        except NoRouteError:
            return False
        return True

    async def adapter(self, path: str, body: dict[str, Any]) -> None:
        """A route for adapters."""
        try:
            await self._post(path, body)
        except NoRouteError:
            raise UserError(
                f"{self._http.url} takes no adapters: start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and "
                "--enable-lora"
            ) from None

    async def info(self, path: str, answer: type[T]) -> T:
        """A question."""
        try:
            return await self._http.call("GET", path, answer=answer, timeout=_INFO_SECONDS)
        except NoRouteError:
            raise self._undeveloped(path) from None

    async def tag(self, timeout: float = _INFO_SECONDS) -> str | None:
        """Of the weights; None where the server tells none, since nobody can change its weights.

        Args:
            timeout: seconds; while the server loads weights it answers only after that.
        """
        try:
            return (await self._http.call("GET", "/weight_info", answer=Weights, timeout=timeout)).weight_version
        except NoRouteError:
            return None

    async def _post(
        self, path: str, body: dict[str, Any] | None, *, query: dict[str, str] | None = None, retries: int = 0
    ) -> None:
        await self._http.call("POST", path, body, answer=bytes, timeout=self._timeout, query=query, retries=retries)

    def _undeveloped(self, path: str) -> UserError:
        return UserError(f"{self._http.url} has no {path}: start vLLM (0.29 or later) with VLLM_SERVER_DEV_MODE=1")
