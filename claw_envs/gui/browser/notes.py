"""What happened by itself since the last look, in sentences for the agent, bounded in number and length."""

MOST_NOTES = 12
MOST_CHARACTERS = 200


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """`text` on one line, cut after `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


class Notes:
    """The notes of one episode."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._more = 0

    def add(self, line: str) -> None:
        """Keep a sentence, unless the last one says the same or there are too many."""
        if self._lines and self._lines[-1] == line:
            return
        if len(self._lines) < MOST_NOTES:
            self._lines.append(line)
        else:
            self._more += 1

    def take(self) -> list[str]:
        """All notes since the last call."""
        lines, self._lines = self._lines, []
        if self._more:
            lines.append(f"and {self._more} more such things happened")
            self._more = 0
        return lines
