"""What the arguments of pyautogui's functions may be; each check raises CodeError, in words for the agent."""

from typing import Any

MOST_TIMES = 200
"""Of one call: clicks, presses, notches of the wheel, keys."""
_MOST_SECONDS, _MOST_PIXELS = 3600, 32_000
_BUTTONS = {
    "left": "left",
    "middle": "middle",
    "right": "right",
    "primary": "left",
    "secondary": "right",
    1: "left",
    2: "middle",
    3: "right",
}


class CodeError(ValueError):
    """What is wrong with an agent's code, in words for the agent."""


def seconds_of(value: Any, what: str) -> float:
    """A time in seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_SECONDS:
        raise CodeError(f"{what} is a number of seconds, not {value!r:.40}")
    return float(value)


def pixels_of(value: Any, what: str) -> int:
    """A coordinate or a distance in pixels, rounded towards zero as pyautogui does."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MOST_PIXELS:
        raise CodeError(f"{what} is a number of pixels, not {value!r:.40}")
    return int(value)


def times_of(value: Any, what: str) -> int:
    """How often something is done."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TIMES:
        raise CodeError(f"{what} is a whole number of at most {MOST_TIMES}, not {value!r:.40}")
    return value


def notches_of(value: Any) -> int:
    """How far the wheel is turned; what is beyond `MOST_TIMES` is cut off."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e9:
        raise CodeError(f"the wheel is turned by a number of notches, not {value!r:.40}")
    return max(-MOST_TIMES, min(MOST_TIMES, int(value)))


def button_of(value: Any) -> str:
    """A button's name."""
    name = value.lower() if isinstance(value, str) else value
    found = _BUTTONS.get(name) if isinstance(name, str | int) else None
    if found is None:
        raise CodeError(f"a button is 'left', 'middle' or 'right', not {value!r:.40}")
    return found


def key_of(value: Any) -> str:
    """A key's name; whether there is such a key is seen when it is pressed."""
    if not isinstance(value, str) or not value:
        raise CodeError(f"a key is named by a text such as 'enter', not {value!r:.40}")
    return value.lower() if len(value) > 1 else value


def keys_of(value: Any) -> list[str]:
    """The names of one key, or of a list of them."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not 1 <= len(names) <= MOST_TIMES:
        raise CodeError(f"keys are a text such as 'enter', or a list of at most {MOST_TIMES}")
    return [key_of(name) for name in names]
