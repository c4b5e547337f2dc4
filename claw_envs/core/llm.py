"""`ChatClient`: asks any OpenAI-compatible endpoint for chat completions, with bounded concurrency and retries.

Covers completions of text and calls of tools. It does not stream, carry out calls, or spread requests over several
endpoints.
"""

import asyncio
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from claw_envs.core.episode import Message
from claw_envs.core.errors import ContextFull, InfrastructureError, UserError
from claw_envs.core.tape import Recorder, Tape

if TYPE_CHECKING:
    import aiohttp

_LONGEST_PAUSE = 30.0  # seconds between two attempts, unless the server asks for more
_CONTEXT_FULL = re.compile(r"maximum context|context[ _-](?:length|size|window)", re.IGNORECASE)


class ChatReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One completion.

    Attributes:
        finish_reason: `stop`, `length`, `tool_calls`, or what else the server says.
        prompt_tokens: tokens spent. The protocol counts them for all choices of a request together, so the first reply
            carries them and the others carry 0: sums are right.
        completion_tokens: as above.
        tool_calls: as OpenAI writes them: each with an id, and the arguments as JSON text, which may be broken.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    tool_calls: list[dict[str, Any]] = []


class _Function(msgspec.Struct):
    name: str
    arguments: str | dict[str, Any] | None = None


class _ToolCall(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Response(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class _TransientError(Exception):
    """Worth another attempt, after `wait` seconds where the server named a time."""

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class ChatClient:
    """A client of one model behind one endpoint. Use it from one event loop, and share it: its limit is global.

    Raises:
        UserError: impossible arguments; on use, a missing aiohttp.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        concurrency: int = 16,
        timeout: float = 60.0,
        retries: int = 3,
        backoff: float = 0.5,
        record: str | Path | None = None,
        replay: str | Path | None = None,
    ) -> None:
        """
        Args:
            base_url: up to and without `/chat/completions`, e.g. `http://localhost:8000/v1`.
            model: the name the endpoint knows it by.
            api_key: sent as bearer token where given.
            concurrency: most requests in flight at once; further calls wait.
            timeout: seconds that one call may take once it is under way, all its attempts and pauses together.
            retries: further attempts after 408, 429, 5xx, a lost connection or an unreadable answer.
            backoff: seconds before the first retry, doubled at each further one, with jitter.
            record: file to which every request is appended with its answer.
            replay: such a file; answers come from there alone and no connection is made.
        """
        if not base_url.startswith(("http://", "https://")):
            raise UserError(f"base_url must begin with http:// or https://, got {base_url!r}")
        if concurrency < 1 or retries < 0 or timeout <= 0:
            raise UserError("concurrency must be at least 1, retries at least 0, timeout above 0")
        if record is not None and replay is not None:
            raise UserError("give record or replay, not both")
        self.model = model
        self.retried = 0
        """Attempts beyond the first, over all calls."""
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._concurrency, self._timeout, self._retries, self._backoff = concurrency, timeout, retries, backoff
        self._slots = asyncio.Semaphore(concurrency)
        self._recorder = None if record is None else Recorder(record)
        self._tape = None if replay is None else Tape(replay)
        self._open: aiohttp.ClientSession | None = None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        n: int = 1,
        seed: int | None = None,
        tools: Sequence[dict[str, Any]] | None = None,
    ) -> list[ChatReply]:
        """Ask for `n` completions of `messages` (an endpoint that ignores `n` gives one).

        Args:
            tools: that the model may call, as OpenAI function schemas.

        Raises:
            ContextFull: if the endpoint says that messages and answer do not fit the model's context.
            InfrastructureError: if no answer could be had in time, or the endpoint refused this one request.
            UserError: if the endpoint knows neither the key nor the model, or the recording not the request.
        """
        body = {"model": self.model, "messages": list(messages), "temperature": temperature, "max_tokens": max_tokens}
        body |= ({"n": n} if n > 1 else {}) | ({} if seed is None else {"seed": seed})
        body |= {"tools": list(tools)} if tools else {}
        if self._tape is not None:
            entry = self._tape.play(body)
            if entry.error is not None:
                raise (ContextFull if entry.context_full else InfrastructureError)(entry.error)
            return msgspec.convert(entry.answer, list[ChatReply])
        async with self._slots:
            try:
                replies = await self._within_deadline(body)
            except InfrastructureError as error:
                if self._recorder:
                    self._recorder.write(body, error=str(error), context_full=isinstance(error, ContextFull))
                raise
        if self._recorder:
            self._recorder.write(body, answer=replies)
        return replies

    async def aclose(self) -> None:
        """Close connections and recording. May be called again."""
        if self._open is not None:
            await self._open.close()
            self._open = None
        if self._recorder is not None:
            self._recorder.close()

    async def _within_deadline(self, body: dict[str, Any]) -> list[ChatReply]:
        deadline = asyncio.get_running_loop().time() + self._timeout
        try:
            async with asyncio.timeout_at(deadline):
                return await self._with_retries(body, deadline)
        except TimeoutError:
            raise InfrastructureError(f"{self._url}: no answer within {self._timeout:g} s") from None

    async def _with_retries(self, body: dict[str, Any], deadline: float) -> list[ChatReply]:
        for attempt in range(self._retries + 1):
            try:
                return await self._attempt(body)
            except _TransientError as error:
                fault = error
            if attempt == self._retries:
                break
            pause = min(_LONGEST_PAUSE, self._backoff * 2**attempt) * random.uniform(0.5, 1.0)
            pause = pause if fault.wait is None else fault.wait
            if asyncio.get_running_loop().time() + pause >= deadline:
                raise InfrastructureError(f"{self._url}: {fault}; the next attempt would be past the deadline")
            await asyncio.sleep(pause)
            self.retried += 1
        raise InfrastructureError(f"{self._url}: {fault} (attempts: {self._retries + 1})")

    async def _attempt(self, body: dict[str, Any]) -> list[ChatReply]:
        session = self._session()
        import aiohttp

        try:
            async with session.post(self._url, data=msgspec.json.encode(body), allow_redirects=False) as response:
                payload = await response.read()
                if response.status != 200:
                    self._refused(response.status, payload, response.headers.get("Retry-After"))
        except (aiohttp.ClientError, OSError) as error:
            raise _TransientError(f"cannot be reached: {error or type(error).__name__}") from error
        return _read(payload)

    def _session(self) -> "aiohttp.ClientSession":
        if self._open is None:
            try:
                import aiohttp
            except ImportError:
                raise UserError('asking an endpoint needs aiohttp: pip install "claw-envs[llm]"') from None
            self._open = aiohttp.ClientSession(
                headers=self._headers | {"Content-Type": "application/json"},
                timeout=aiohttp.ClientTimeout(total=None),
                connector=aiohttp.TCPConnector(limit=self._concurrency),
            )
        return self._open

    def _refused(self, status: int, payload: bytes, retry_after: str | None) -> NoReturn:
        answer = " ".join(payload.decode(errors="replace").split())
        said = answer[:300]
        if status in (401, 403):
            raise UserError(f"{self._url} refused the API key (HTTP {status}): pass a valid api_key")
        if status == 404:
            raise UserError(f"{self._url} is not there, or has no model {self.model!r} (HTTP 404): {said}")
        if status in (408, 429) or status >= 500:
            raise _TransientError(f"HTTP {status}: {said}", wait=_seconds(retry_after))
        kind = ContextFull if _CONTEXT_FULL.search(answer) else InfrastructureError
        raise kind(f"{self._url}: HTTP {status}: {said}")


def _read(payload: bytes) -> list[ChatReply]:
    try:
        response = msgspec.json.decode(payload, type=_Response)
    except msgspec.DecodeError as error:
        raise _TransientError(f"unreadable answer: {error}") from error
    if not response.choices:
        raise _TransientError("unreadable answer: no choices")
    usage = response.usage or _Usage()
    spent = [(usage.prompt_tokens, usage.completion_tokens)] + [(0, 0)] * (len(response.choices) - 1)
    return [
        ChatReply(
            choice.message.content or "",
            choice.finish_reason or "stop",
            *tokens,
            [_openai(call, i) for i, call in enumerate(choice.message.tool_calls or [], 1)],
        )
        for choice, tokens in zip(response.choices, spent, strict=True)
    ]


def _openai(call: _ToolCall, number: int) -> dict[str, Any]:
    arguments = call.function.arguments
    if not isinstance(arguments, str):
        arguments = msgspec.json.encode(arguments or {}).decode()
    function = {"name": call.function.name, "arguments": arguments}
    return {"id": call.id or f"call_{number}", "type": "function", "function": function}


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After` in seconds; the header's other form, a date, is left to the backoff."""
    try:
        return None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        return None
