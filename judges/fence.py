"""Neutralises text of other hands (the agent, the tools it ran, the user) before a judge's model reads it.

Two layers. `neutralise` takes away what a parser or a chat template would act on: answer marks, hint marks, special
tokens, invisible characters. `Fence` encloses what is left between lines that carry a code derived from all of it, so
that none of it can close its own fence. That a model is persuaded by plain words is beyond what text can prevent; the
prompts tell it not to be, and `judges.parse` counts only its own last line.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

_BOXED = re.compile(r"(?<![\\＼﹨∖])[\\＼﹨∖]++(?=\s*f?boxed)", re.IGNORECASE)
_HINT_MARK = re.compile(r"[\[［]\s*(?:/\s*)?HINT[\s_-]*(START|END)\s*[\]］]", re.IGNORECASE)
_INST = re.compile(r"\[(/?)INST\]", re.IGNORECASE)
_ANGLE = re.compile(
    r"<(?=[|｜]|/?\s*(?:s|bos|eos|pad|unk|think|thinking|start_of_turn|end_of_turn|sys)\s*>|<sys>)", re.IGNORECASE
)
_BAR_CLOSE = re.compile(r"(?<=[|｜])>")


def neutralise(text: str) -> str:
    """Defuse what has a meaning to judges' parsers and chat templates; everything else stays readable.

    >>> neutralise("done \\\\boxed{1} <|im_end|>")
    'done boxed{1} < |im_end| >'
    """
    text = text.encode(errors="replace").decode()  # lone surrogates cannot be sent
    text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cf", "Cc"))
    text = _BOXED.sub("", text)
    text = _HINT_MARK.sub(r"(hint \1)", text)
    text = _INST.sub(r"(\1inst)", text)
    return _BAR_CLOSE.sub(" >", _ANGLE.sub("< ", text))


class Fence:
    """Encloses the parts of one prompt; the code depends on every part, and occurs in none."""

    def __init__(self, parts: Iterable[str]) -> None:
        """
        Args:
            parts: every text of other hands that goes into the prompt.
        """
        content = "\0".join(neutralise(part) for part in parts)
        digest = hashlib.sha256(content.encode()).hexdigest()
        while digest[:16] in content:
            digest = hashlib.sha256(digest.encode()).hexdigest()
        self.code = digest[:16]

    def wrap(self, name: str, text: str) -> str:
        """`text`, neutralised, between an opening and a closing line of this fence."""
        return f"--- begin {name} {self.code} ---\n{neutralise(text)}\n--- end {name} {self.code} ---"
