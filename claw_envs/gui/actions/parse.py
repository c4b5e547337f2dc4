"""An agent's message, read as acts: one parser for every form, whichever the prompt taught. Never raises.

The first form that is present counts:

1. OpenAI `tool_calls`, and `<tool_call>` in the text, with JSON or Qwen3-Coder's XML in it;
2. fenced blocks, in order, each with: calls, one a line (`click("12")`); an object or a list of objects of
   `computer_13` or `computer_use`; code that calls pyautogui; or one of the words WAIT, DONE and FAIL, which may also
   stand alone in the last line of code;
3. outside of any block: a message that is nothing but such calls, such code or such a word, or holds such objects.

A word in a sentence is no act: an agent says FAIL by a call, or alone in a block or a message. What a model thought
aloud is not read (`claw_envs.wire.scan`). Code is not looked into here: the sandbox's interpreter says what is wrong.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from claw_envs.core.env import Action, text_of
from claw_envs.gui import acts
from claw_envs.gui.actions import elements
from claw_envs.gui.actions.frame import Coordinates, Frame
from claw_envs.gui.actions.lines import Line, first_name, read_lines
from claw_envs.gui.actions.spaces import CODE, Space, names, right
from claw_envs.gui.actions.vocabulary import Parsed, Taught, element_call, named_act
from claw_envs.wire import calls as wire
from claw_envs.wire.calls import Malformed
from claw_envs.wire.read import message_calls, named_call, tagged_call
from claw_envs.wire.scan import Span, scan, spoken
from claw_envs.wire.toolset import unsendable

MOST_ACTS = 50
"""Of one message, in whichever form."""
MOST_CODE = 20_000
"""Characters of one block of code."""
_PYTHON = ("python", "py", "python3")
_WORDS: dict[str, acts.Act] = {"WAIT": acts.Wait(), "DONE": acts.Done(), "FAIL": acts.Fail()}
_LISTS = ("coordinate", "start_coordinate", "keys", "options")
"""Arguments that are lists, which a form without types writes as JSON."""
_OBJECT = re.compile(r'\{\s*+"(?:action_type|action|name)"\s*+:')
_DECODER = json.JSONDecoder()
_RIGHT_CODE = f"Write code, as in:{CODE}"


def parse(
    action: Action | Any,
    *,
    size: tuple[int, int],
    coordinates: Coordinates = "grid",
    takes_code: bool = False,
    space: Space = "elements",
) -> list[Parsed]:
    """What `action` asks for, in order; at least one entry.

    Args:
        size: of the screen in pixels, width and height.
        coordinates: what those that the agent writes are; code always means pixels.
        takes_code: whether the screen carries out `Code`, as a desktop does and no browser.
        space: what the prompt taught, for examples of what would be right.
    """
    reader = _Reader(Frame(size, coordinates), takes_code, Taught(space, browser=not takes_code))
    many = f"There are too many actions in the message; write at most {MOST_ACTS}, best one. {right(space)}"
    if native := message_calls(action):
        if len(native) > MOST_ACTS:
            return [Parsed(Malformed(many, call.id), call.id) for call in native]
        return [reader.call(call) for call in native]
    text = spoken(text_of(action))
    spans = scan(text, languages=_PYTHON)
    tags = [span for span in spans if span.kind == "tag"]
    blocks = [span for span in spans if span.kind == "block" and span.language != "output"]
    if len(tags or blocks) > MOST_ACTS:
        return [_malformed(many)]
    if tags:
        return [reader.tag(tag) for tag in tags]
    found = [parsed for block in blocks for parsed in reader.block(block)] or list(reader.bare(text))
    if len(found) > MOST_ACTS:
        return [_malformed(many)]
    nothing = "There was no action in the message" if text.strip() else "The message was empty"
    return found or [_malformed(f"{nothing}. {right(space)}")]


class _Reader:
    """Reads the parts of a message for one screen."""

    def __init__(self, frame: Frame, takes_code: bool, taught: Taught) -> None:
        self._frame, self._takes_code, self._taught = frame, takes_code, taught
        self._right = right(taught.space)

    def call(self, call: wire.Call | Malformed) -> Parsed:
        """A call of a tool."""
        if isinstance(call, Malformed):
            return Parsed(Malformed(f"{call.problem} {self._right}", call.id), call.id)
        arguments = call.arguments if call.typed else _with_lists(call.arguments)
        return named_act(call.name, arguments, self._frame, self._taught, strict=call.typed)._replace(id=call.id)

    def tag(self, tag: Span) -> Parsed:
        """What `<tool_call>` holds."""
        call = tagged_call(tag.content, closed=tag.closed)
        if isinstance(call, Malformed):  # whose example is of no action space
            call = Malformed(call.problem.partition(" Write: ")[0], call.id)
        return self.call(call)

    def block(self, block: Span) -> Iterator[Parsed]:
        """What a fenced block holds."""
        content = block.content.strip()
        if not block.closed:
            yield _malformed(f"The block was not closed; end it with a line of three backticks. {self._right}")
        elif content in _WORDS:
            yield Parsed(_WORDS[content], name=content)
        elif content.startswith(("{", "[")):
            yield from self._json(content)
        elif _is_lines(content):
            yield from self._lines(content)
        elif block.language in _PYTHON or "pyautogui" in content:
            yield from self._code(content)
        else:
            what = repr(content[:60]) if content else "nothing"
            there = ", ".join(names(self._taught.space, browser=self._taught.browser))
            yield _malformed(f"The block holds {what}, which is no action; there are {there}. {self._right}")

    def bare(self, text: str) -> Iterator[Parsed]:
        """What a message without blocks holds; nothing where it is only words."""
        content = text.strip()
        if content in _WORDS:
            yield Parsed(_WORDS[content], name=content)
        elif _is_lines(content):
            yield from self._lines(content)
        elif content.startswith(("import pyautogui", "pyautogui.")):
            yield from self._code(content)
        else:
            yield from self._objects(content)

    def _lines(self, text: str) -> Iterator[Parsed]:
        try:
            lines = read_lines(text)
        except ValueError as error:
            yield _malformed(f"The calls cannot be read: {error}. {self._right}")
            return
        for line in lines:
            yield self._line(line)

    def _line(self, line: Line) -> Parsed:
        name = element_call(line.name)
        if name is None:
            return _malformed(self._taught.unknown(line.name))
        fields = elements.fields_of(name, line.positional)
        if name in ("click", "hover") and len(line.positional) > 1 and all(map(_is_number, line.positional)):
            return _malformed(
                f"{name} takes an element's id, the number in brackets before it, not a point. {self._right}"
            )
        if len(line.positional) > len(fields):
            return _malformed(f"{name} takes {', '.join(fields) or 'nothing'}, and no more. {self._right}")
        arguments = dict(zip(fields, line.positional, strict=False)) | line.named
        return self.call(named_call(name, arguments))

    def _code(self, text: str) -> Iterator[Parsed]:
        head, _, last = text.rpartition("\n")
        word = last.strip() if last.strip() in _WORDS else None
        code = head.rstrip() if word else text
        if not self._takes_code:
            yield _malformed(f"Code is not carried out on this screen. {self._right}")
        elif not code:
            yield _malformed(f"The block was empty. {_RIGHT_CODE}")
        elif len(code) > MOST_CODE:
            yield _malformed(f"The code has {len(code)} characters, more than {MOST_CODE}. {_RIGHT_CODE}")
        elif unsendable(code):
            yield _malformed(f"The code holds a NUL byte or half a surrogate pair. {_RIGHT_CODE}")
        else:
            yield Parsed(acts.Code(code), name="code")
            if word:
                yield Parsed(_WORDS[word], name=word)

    def _json(self, text: str) -> Iterator[Parsed]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            yield _malformed(f"The block is not valid JSON ({error}). {self._right}")
            return
        values = value if isinstance(value, list) else [value]
        if not 1 <= len(values) <= MOST_ACTS:
            yield _malformed(f"A list of actions holds 1 to {MOST_ACTS} of them. {self._right}")
            return
        for entry in values:
            yield self._object(entry)

    def _objects(self, text: str) -> Iterator[Parsed]:
        """The objects that stand in a text; after one that is no JSON, nothing more is read."""
        position = 0
        while found := _OBJECT.search(text, position):
            try:
                value, position = _DECODER.raw_decode(text, found.start())
            except (ValueError, RecursionError) as error:
                yield _malformed(f"The action is not valid JSON ({error}). {self._right}")
                return
            if value.keys() & {"arguments", "parameters", "action", "action_type"}:
                yield self._object(value)

    def _object(self, value: Any) -> Parsed:
        if isinstance(value, str) and value in _WORDS:
            return Parsed(_WORDS[value], name=value)
        if not isinstance(value, dict):
            return _malformed(f"An action is an object with its `action_type`. {self._right}")
        if "action_type" in value:
            return self.call(named_call("computer_13", value))
        if "action" in value:
            return self.call(named_call("computer_use", value))
        if not isinstance(value.get("name"), str):
            return _malformed(f"An action is an object with its `action_type`. {self._right}")
        return self.call(named_call(value["name"], value.get("arguments", value.get("parameters", {}))))


def _malformed(problem: str) -> Parsed:
    return Parsed(Malformed(problem))


def _is_lines(text: str) -> bool:
    name = first_name(text)
    return name is not None and element_call(name) is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value.isdigit())


def _with_lists(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a form that knows only texts, with the lists among them read."""
    read = dict(arguments)
    for name in _LISTS:
        value = read.get(name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            try:
                read[name] = json.loads(value)
            except (ValueError, RecursionError):
                continue
    return read
