"""The agent's message, read as calls of tools and the text beside them.

The calls of one form are read, the first of these that is present; what looks like another form is text then.

1. `openai`: the `tool_calls` of a message dict;
2. `hermes`: `<tool_call>` in the text, with `{"name": ..., "arguments": {...}}` or Qwen3-Coder's XML in it;
3. `code`: `<code>`…`</code>`, whose content may itself be a fenced block;
4. `fenced`: fenced blocks marked `python`;
5. `llama3`: `{"name": ..., "parameters": {...}}` after `<|python_tag|>`, which plain code may follow too, or as all
   that stands in a block marked `json` or nothing. Where the text begins with such a call, it goes before forms 2 to 4.

Forms 3 and 4, and plain code, call `code_tool` with `{"code": ...}`, and are text where there is no such tool. What a
model thought aloud is not read, nor what it made up as the answer to its own call (`claw_envs.wire.scan`). Half a
surrogate pair, which nothing could pass on, is read as `?`.
"""

from typing import Any

from claw_envs.core.env import Action, text_of
from claw_envs.wire.calls import Call, Form, Malformed, Parsed
from claw_envs.wire.read import code_call, json_calls, message_calls, tagged_call
from claw_envs.wire.scan import Span, beside, scan, spoken

PYTHON = ("python", "python3", "py")
"""Languages of the blocks that call the code tool."""
_PYTHON_TAG = "<|python_tag|>"
_MARKED: tuple[Form, ...] = ("hermes", "code", "fenced")


def parse(action: Action | Any, *, code_tool: str | None) -> Parsed:
    """What `action` calls and says. Never raises.

    Args:
        code_tool: name of the tool that code is handed to; None where there is none.

    >>> parse("I add.\\n```python\\n1 + 1\\n```", code_tool="python")
    Parsed(calls=[Call(name='python', arguments={'code': '1 + 1'}, id=None, typed=True)], text='I add.', form='fenced')
    """
    text = spoken(text_of(action).encode(errors="replace").decode())
    spans = scan(text, languages=PYTHON if code_tool else (), code=code_tool is not None)
    if spans and spans[-1].kind == "thought":
        text = text[: spans.pop().start]
    if native := message_calls(action):
        return Parsed(native, text.strip(), "openai" if isinstance(action, dict) else None)
    calls, rest = json_calls(text)
    if calls and isinstance(calls[0], Call):
        return Parsed(calls, rest.strip(), "llama3")
    forms = [_form(span, code_tool) for span in spans]
    form = next((form for form in _MARKED if form in forms), None)
    if form is None:
        return _unmarked(text, spans, code_tool)
    taken = [span for span, its in zip(spans, forms, strict=True) if its == form]
    return Parsed([_call(span, code_tool) for span in taken], beside(text, taken), form)


def _form(span: Span, code_tool: str | None) -> Form | None:
    if span.kind == "tag":
        return "hermes"
    if span.kind == "code":
        return "code"
    return "fenced" if code_tool and span.kind == "block" and span.language in PYTHON else None


def _call(span: Span, code_tool: str | None) -> Call | Malformed:
    if code_tool is None or span.kind == "tag":
        return tagged_call(span.content, closed=span.closed)
    end = "</code>" if span.kind == "code" else "a line of three backticks: ```"
    return code_call(code_tool, span.content, closed=span.closed, end=end)


def _unmarked(text: str, spans: list[Span], code_tool: str | None) -> Parsed:
    """What a text without marked calls says and calls: in the form of Llama 3, or nothing."""
    before, tag, after = text.partition(_PYTHON_TAG)
    calls, rest = json_calls(after if tag else text)
    if tag and not calls:
        why = f'{_PYTHON_TAG} begins a call: {{"name": ..., "parameters": {{...}}}}'
        calls, rest = [code_call(code_tool, after, closed=True, end="") if code_tool else Malformed(why)], ""
    if calls:
        return Parsed(calls, f"{before if tag else ''}{rest}".strip(), "llama3")
    blocks = [(span, *json_calls(span.content)) for span in spans if span.language in ("", "json")]
    whole = [(span, calls) for span, calls, rest in blocks if not rest.strip()]
    calls = [call for _, found in whole for call in found]
    if calls:
        return Parsed(calls, beside(text, [span for span, found in whole if found]), "llama3")
    if any(span.kind == "stray" for span in spans):
        calls = [Malformed("</tool_call> closes nothing; begin the call with <tool_call>.")]
        return Parsed(calls, text.strip(), "hermes")
    return Parsed([], text.strip())
