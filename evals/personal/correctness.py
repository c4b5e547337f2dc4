"""Is the number right? Reads the final number out of long worked answers and short notes alike.

It does not read numbers written as words.
"""

import re

_NUMBER = r"-?\d+(?:\.\d+)?"
_MARKED = (
    re.compile(rf"####\s*\$?({_NUMBER})"),
    re.compile(rf"\\boxed\{{\s*\\?\$?({_NUMBER})"),
    re.compile(
        rf"\banswer (?:is|would be|should be)(?: equal to)?:?\s*(?:\*\*|\\\(|\$)*({_NUMBER})(?![^.!?\n]*=)",
        re.IGNORECASE,
    ),
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ASIDE = re.compile(r"\([^()]*\)")
_FREE_NUMBER = re.compile(r"(?:(?<![\w.)])-)?(?<![\w.])\d+(?:\.\d+)?")


def final_number(reply: str) -> float | None:
    """The number that a reply gives as its answer, None where it gives none.

    The last `#### N`, else the last `\\boxed{N}`, else the last "the answer is N", else the last number outside
    brackets.

    >>> final_number("7 + 5 = 12 apples, so Mia has 12 (7 of her own).")
    12.0
    """
    text = _THOUSANDS.sub("", reply)
    for pattern in _MARKED:
        if found := pattern.findall(text):
            return float(found[-1])
    numbers = _FREE_NUMBER.findall(_ASIDE.sub(" ", text)) or _FREE_NUMBER.findall(text)
    return float(numbers[-1]) if numbers else None


def is_correct(reply: str, answer: float) -> bool:
    """Whether the final number equals `answer` (to 1e-6)."""
    number = final_number(reply)
    return number is not None and abs(number - answer) <= 1e-6
