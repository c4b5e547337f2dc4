"""What client and server say to each other.

Over HTTP, bodies of msgpack: `POST /v1/describe` (Wanted -> Description), `POST /v1/leases` (Wanted -> Granted),
`DELETE /v1/lease`. Then one WebSocket a lease, `/v1/lease`: Request after Request, each answered by a Reply of its key.
Keys count up from 1 within a lease. A request whose key was seen before is not executed again: it gets the same reply.
"""

import json
from typing import Any

import gymnasium as gym
import msgspec

from claw_envs.core.episode import Message, Observation
from claw_envs.core.errors import ContextFull, InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.server.arrays import decode_hook, encode_hook, ext_hook
from claw_envs.server.spaces import Field

KEY_VARIABLE = "CLAW_API_KEY"
"""Environment variable that holds the API key, on both sides; sent as bearer token."""
LEASE = "claw-lease"
"""Header that carries a lease's id, which is a secret: not in the URL, which proxies write to their logs."""
CONTENT_TYPE = "application/msgpack"
LARGEST_REQUEST = 8 * 2**20
"""Bytes of one message from a client: an action of `MAX_TEXT` characters fits twice."""
LARGEST_REPLY = 256 * 2**20
"""Bytes of one message from the server: several raw 4K screenshots fit."""
GONE = 4404
"""WebSocket close code: there is no such lease (any more)."""
REPLACED = 4409
"""WebSocket close code: another connection has taken the lease over."""


class Wanted(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which environment a client wants."""

    family: str
    settings: dict[str, Any] = {}
    """Arguments of its constructor, `tasks` only as text."""
    digest: str = ""
    """Of the task set that the client has read; a server whose set differs refuses the lease."""


class Description(msgspec.Struct, kw_only=True):
    """What a client must know to stand in for an environment."""

    fields: dict[str, Field]
    """Of the observation space."""
    blank: dict[str, Any]
    """The observation of an empty text."""
    about: dict[str, Any]
    """`tools`, `native_tools`, `system_prompt` and `few_shot` before the first reset; `info` holds the episode's."""
    tasks: msgspec.Raw
    """`list[Task]`."""
    digest: str


class Granted(msgspec.Struct, kw_only=True):
    """A lease."""

    id: str
    ttl: float
    """Seconds without a word from the client after which the environment is closed."""


class Reset(msgspec.Struct, kw_only=True, tag="reset"):
    """`areset`."""

    key: int
    seed: int | None = None
    options: dict[str, Any] | None = None


class Act(msgspec.Struct, kw_only=True, tag="step"):
    """`astep`."""

    key: int
    action: str | Message
    escaped: bool = False
    """The action is JSON text: msgpack cannot carry half a surrogate pair, and an agent may write one."""


class Truncate(msgspec.Struct, kw_only=True, tag="truncate"):
    """`atruncate`."""

    key: int


class Cancel(msgspec.Struct, kw_only=True, tag="cancel"):
    """The client no longer waits for the request of this key: stop it."""

    key: int


class Beat(msgspec.Struct, tag="beat"):
    """The client lives; the server answers with the same."""


class Result(msgspec.Struct, kw_only=True, tag="result"):
    """What `areset`, `astep` or `atruncate` returned, and the environment's state after it."""

    key: int
    last: Observation
    """`last_observation`."""
    observation: dict[str, Any]
    """The fields of the observation that are not those of `last` as they stand."""
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any]
    task: Task | None = None
    """After a reset."""


class Fault(msgspec.Struct, kw_only=True, tag="fault"):
    """What was raised instead."""

    key: int = 0
    kind: str
    text: str
    retry_after: float | None = None
    """Seconds. Where given, nothing was executed: the server is busy, and the same key may be sent again."""


Call = Reset | Act | Truncate
Request = Call | Cancel | Beat
Reply = Result | Fault | Beat

_KINDS: dict[str, type[Exception]] = {
    "user": UserError,
    "context": ContextFull,
    "infrastructure": InfrastructureError,
    "reset": gym.error.ResetNeeded,
}
_encoder = msgspec.msgpack.Encoder(enc_hook=encode_hook)
_requests = msgspec.msgpack.Decoder(Request)
_replies = msgspec.msgpack.Decoder(Reply, dec_hook=decode_hook, ext_hook=ext_hook)
_descriptions = msgspec.msgpack.Decoder(Description, ext_hook=ext_hook)
encode = _encoder.encode


def read_request(data: bytes) -> Request:
    """A client's message: plain values only.

    Raises:
        ValueError: if it is none.
    """
    try:
        return _requests.decode(data)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_reply(data: bytes) -> Reply:
    """A server's message.

    Raises:
        ValueError: if it is none.
    """
    return _replies.decode(data)


def read_description(data: bytes) -> Description:
    """A server's description.

    Raises:
        ValueError: if it is none.
    """
    return _descriptions.decode(data)


def act(action: str | Message) -> Act:
    """The request to step by `action`."""
    try:
        encode(action)
    except UnicodeEncodeError:
        return Act(key=0, action=json.dumps(action), escaped=True)
    return Act(key=0, action=action)


def action_of(request: Act) -> str | Message:
    """The action of a request.

    Raises:
        ValueError: if what should be JSON is not, or is something else than text or an object.
    """
    if not request.escaped:
        return request.action
    action = json.loads(request.action) if isinstance(request.action, str) else None
    if not isinstance(action, str | dict):
        raise ValueError("an action is text or an object")
    return action


def fault(error: Exception, *, key: int = 0) -> Fault:
    """The error as it is sent; one that the client need not know by its type is a `bug`."""
    kind = next((name for name, known in _KINDS.items() if isinstance(error, known)), "bug")
    text = str(error) if kind != "bug" else f"{type(error).__name__} on the environment server; its log says more"
    return Fault(key=key, kind=kind, text=text)


def error_of(fault: Fault) -> Exception:
    """The error as the client raises it."""
    return _KINDS.get(fault.kind, RuntimeError)(fault.text)
