"""Where calls may stand: fences held against a plain reading of the rule, and what is left when calls are taken out."""

import random
import re

from claw_envs.wire.scan import Span, beside, scan, spoken


def blocks(text: str) -> list[tuple[str, bool]]:
    """Content of every fenced block, line by line as CommonMark says."""
    found: list[tuple[str, bool]] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        opening = re.fullmatch(r" {0,3}(`{3,})[^`]*", line.rstrip("\n"))
        if not fence and opening:
            fence = opening[1]
            found.append(("", False))
        elif fence and opening and re.fullmatch(r" {0,3}`+[ \t]*", line.rstrip("\n")) and len(opening[1]) >= len(fence):
            found[-1] = found[-1][0], True
            fence = ""
        elif fence:
            found[-1] = found[-1][0] + line, False
    return found


def test_fences_close_where_commonmark_says() -> None:
    rng = random.Random(2)
    parts = [
        "```\n",
        "````\n",
        "`````\n",
        "```py\n",
        " ````sh x\n",
        "    ```\n",
        "``\n",
        "x\n",
        "x ```\n",
        "```  \n",
        "\n",
    ]
    for _ in range(3000):
        text = "".join(rng.choice(parts) for _ in range(rng.randrange(12)))
        assert [(span.content, span.closed) for span in scan(text, languages=())] == blocks(text), repr(text)


def test_places_are_those_in_the_text() -> None:
    text = "a <tool_call>1</tool_call> b\n```py\n2\n```\nc <code>3</code> d </tool_call>\n<think> e"
    spans = scan(text, languages=("py",), code=True)
    assert [span.kind for span in spans] == ["tag", "block", "code", "stray", "thought"]
    assert [span.content.strip() for span in spans] == ["1", "2", "3", "", ""]
    assert [text[span.start : span.end] for span in spans] == [
        "<tool_call>1</tool_call>",
        "```py\n2\n```",
        "<code>3</code>",
        "</tool_call>",
        "<think> e",
    ]
    assert beside(text, spans) == "a  b\n\nc  d"
    assert beside(text, []) == text


def test_calls_in_one_block_take_its_whole_place() -> None:
    text = "a\n```json\n<tool_call>1</tool_call>\n<tool_call>2\n```\nb"
    spans = scan(text, languages=("py",))
    assert spans == [
        Span("tag", 2, len(text) - 2, "1"),
        Span("tag", 2, len(text) - 2, "2\n", closed=False),
    ]
    assert beside(text, spans) == "a\n\nb"


def test_what_is_thought_aloud_ends_with_the_last_end() -> None:
    assert spoken("a</think>b</think>c") == "c"
    assert spoken("a <think>") == "a <think>"
