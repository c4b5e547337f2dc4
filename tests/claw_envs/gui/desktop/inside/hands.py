"""A pointer and a keyboard that only remember what was done with them, in the words of `pyautogui_events.json`."""

_SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))
_NAMED = {
    "enter", "tab", "space", "esc", "left", "right", "up", "down", "pagedown", "f5", "shift", "ctrl", "alt", "win",
}  # fmt: skip


class Hands:
    """Of a screen of 1280 by 720 pixels; the pointer begins at (600, 400)."""

    def __init__(self) -> None:
        self.size = (1280, 720)
        self.at = (600, 400)
        self.events: list[str] = []
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def position(self) -> tuple[int, int]:
        return self.at

    def move(self, x: int, y: int) -> None:
        """As the X server has it: not beyond the edge. A move to where the pointer is, is none."""
        to = max(0, min(x, 1279)), max(0, min(y, 719))
        if to != self.at:
            self.at = to
            self.events.append(f"move {to[0]} {to[1]}")

    def press(self, button: str = "left") -> None:
        self.events.append(f"press {button}")

    def release(self, button: str = "left") -> None:
        self.events.append(f"release {button}")

    def scroll(self, dx: float = 0.0, dy: float = 0.0) -> None:
        for amount, less, more in ((dx, "left", "right"), (dy, "up", "down")):
            for _ in range(round(abs(amount))):
                way = more if amount > 0 else less
                self.events += [f"press wheel {way}", f"release wheel {way}"]

    def key_down(self, name: str) -> None:
        if len(name) > 1 and name not in _NAMED:
            raise ValueError(f"there is no key {name!r}")
        self.events.append(f"down {name}")

    def key_up(self, name: str) -> None:
        self.events.append(f"up {name}")

    def type(self, text: str) -> None:
        for character in text:
            base = _SHIFTED.get(character, character.lower())
            key = {" ": "space", "\n": "enter"}.get(base, base)
            shift = character.isupper() or character in _SHIFTED
            self.events += [*["down shift"] * shift, f"down {key}", *["up shift"] * shift, f"up {key}"]
