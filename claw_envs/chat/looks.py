"""Quick looks at a reply, as a user takes them: does it look machine-made, is it whole, which number does it end on?

The simulated users decide with these. The evaluation's style scorer is separate code with criteria of its own.
"""

import re

MARKUP = ("**", "__", "##", "```", "\\", "$")
_STEPS = re.compile(
    r"\b(?:to (?:find|solve|determine|calculate|figure)|let'?s|steps?|first,|next,|finally|therefore"
    r"|(?:we|you) (?:need|can|have|know)|you need to|here'?s|this means|this is an?|simple|classic)\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def has_markup(reply: str) -> bool:
    """Bold, headings, lists, code or LaTeX, or several lines."""
    text = reply.strip()
    return "\n" in text or any(mark in text for mark in MARKUP) or _ITEM.search(text) is not None


def walks_through(reply: str) -> bool:
    """Announces steps, or works through several sums."""
    return _STEPS.search(reply) is not None or reply.count("=") > 1


def shows_the_sum(reply: str) -> bool:
    """Lets see where its number comes from: by a sum such as `7 + 5 = 12`, or by the numbers that go into it.

    >>> shows_the_sum("She had 7, got 5 more, so 12."), shows_the_sum("The answer is 12.")
    (True, False)
    """
    return "=" in reply or len(_numbers(reply)) >= 3


def is_cut_off(reply: str) -> bool:
    """Long, and ends in the middle of a sentence."""
    text = reply.strip().rstrip("\"'”’)")
    return len(text.split()) > 20 and not text.endswith((".", "!", "?"))


def is_odd(reply: str) -> bool:
    """Nothing there, or symbols that nobody types."""
    return not reply.strip() or any(ord(character) > 0x2100 for character in reply)


def last_number(reply: str) -> float | None:
    """The number that the reply ends on.

    >>> last_number("5 and 1,000 more makes 1,005.")
    1005.0
    """
    found = _numbers(reply)
    return float(found[-1]) if found else None


def _numbers(reply: str) -> list[str]:
    return _NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3})", "", reply))
