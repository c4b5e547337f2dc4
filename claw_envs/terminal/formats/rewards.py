"""Harbor's reward files: what counts as a verdict."""

import math
from typing import Any

import msgspec


def parse_rewards(name: str, data: bytes) -> dict[str, float]:
    """Read a reward file.

    Args:
        name: `reward.json` (a number, or an object of numbers: its `reward`, else its only one, is the score) or
            `reward.txt` (one number).

    Returns:
        The rewards by name; `reward` is always there.

    Raises:
        ValueError: if it is empty, not a number, or not finite.

    >>> parse_rewards("reward.json", b'{"reward": 0.5, "style": 1}')
    {'reward': 0.5, 'style': 1.0}
    """
    text = data.decode(errors="replace").strip()
    if not text:
        raise ValueError(f"{name} is empty")
    if name.endswith(".txt"):
        try:
            return {"reward": _number(name, float(text))}
        except ValueError:
            raise ValueError(f"{name} is not a finite number: {text[:80]!r}") from None
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON: {error}") from None
    if not isinstance(value, dict):
        return {"reward": _number(name, value)}
    rewards = {key: _number(f"{name}, {key!r}", entry) for key, entry in value.items()}
    if "reward" not in rewards and len(rewards) != 1:
        raise ValueError(f"{name} has no 'reward' and not exactly one number")
    return rewards if "reward" in rewards else rewards | {"reward": next(iter(rewards.values()))}


def _number(where: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{where} is not a finite number: {value!r}")
    return number
