"""Chat messages to token ids and back, so that ids once sampled are never remade.

The model's own chat template decides everything: SmolLM2's writes its default system prompt where the conversation
opens without one, and shows neither `tools` nor `tool_calls`, so that environments have to describe tools in text.
Others show both: the arguments of calls reach them as objects, as they expect, not as OpenAI's JSON text. Only text
content is covered here; `vision` covers images.
"""

import re
import threading
from collections.abc import Sequence
from typing import Any

import msgspec

from claw_envs.core.episode import Message
from claw_envs.core.errors import UserError

HINT_HEADING = "[user's hint / instruction]"
_MARKS = range(0xE000, 0xF8FF)  # Unicode's private use area


class Renderer:
    """The chat template of one tokenizer. Safe to use from several threads.

    Control tokens come from the template alone: where a message's text spells one out (`<|im_end|>`), it is encoded
    as the ordinary characters it consists of and cannot end a turn or open another.
    """

    sees = False
    """Whether messages may hold images."""
    reserved: frozenset[int] = frozenset()
    """Ids that stand for images: a response ends before one, since no image would belong to it."""

    def __init__(self, tokenizer: Any, *, template: str | None = None) -> None:
        """
        Args:
            tokenizer: a transformers tokenizer with a chat template.
            template: used in place of the tokenizer's own.
        """
        self.tokenizer = tokenizer
        self._template = template
        special = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
        self._ids = {text: int(tokenizer.convert_tokens_to_ids(text)) for text in special}
        self._special = re.compile("|".join(re.escape(text) for text in sorted(special, key=len, reverse=True)))
        self._lock = threading.Lock()

    def prompt_ids(self, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]] | None = None) -> list[int]:
        """Ids of the conversation up to where the assistant's next message begins.

        Args:
            tools: shown as OpenAI function schemas where the template shows them.

        Raises:
            UserError: if the template shows no tools, or cannot show these messages.
        """
        shown = [self._for_template(message) for message in messages]
        mark = _unused_mark(shown, tools)
        text = self._render(shown, tools, mark)
        if tools and text == self._render(shown, None, mark):
            raise UserError("the model's chat template shows no tools: choose a form that the system prompt explains")
        return self._encode(self._expanded(text, messages), mark)

    def extend(
        self,
        previous_ids: Sequence[int],
        *,
        finish_reason: str,
        messages_before: Sequence[Message],
        response: str,
        new_messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] | None = None,
    ) -> list[int] | None:
        """Ids of the next prompt as a continuation of the ids that are already there.

        Args:
            previous_ids: prompt and response ids of the turn before.
            finish_reason: of that response; where it was cut off, the end-of-turn token is added.
            messages_before: what that prompt showed.
            response: that response's text.
            new_messages: what came after it.
            tools: as for `prompt_ids`.

        Returns:
            Ids that begin with `previous_ids`, or None where the template does not show the earlier conversation
            unchanged (it strips or drops parts of it): render the whole prompt anew then.
        """
        before = [self._for_template(message) for message in messages_before]
        after = [*before, {"role": "assistant", "content": response}, *map(self._for_template, new_messages)]
        mark = _unused_mark(after, tools)
        shown = self._render(before, tools, mark) + self._marked(response, mark)
        whole = self._render(after, tools, mark)
        if not whole.startswith(shown):
            return None
        rest = whole[len(shown) :]
        end = self._special.match(rest)
        if end is None:
            return None
        if finish_reason == "stop":
            if previous_ids[-1] != self._ids[end.group()]:
                return None
            rest = rest[end.end() :]
        return [*previous_ids, *self._encode(self._expanded(rest, new_messages), mark)]

    def decode(self, ids: Sequence[int], *, keep_special: bool = False) -> str:
        """Text of `ids`, without control tokens unless they are to be kept."""
        text = self.tokenizer.decode(
            list(ids), skip_special_tokens=not keep_special, clean_up_tokenization_spaces=False
        )
        return str(text)

    def _for_template(self, message: Message) -> Message:
        """`message` as templates expect it: its content a text, the arguments of its calls objects."""
        shown = {**message, "content": message.get("content") or ""}
        if message.get("tool_calls"):
            shown["tool_calls"] = [_with_object(call) for call in message["tool_calls"]]
        return shown

    def _expanded(self, text: str, messages: Sequence[Message]) -> str:
        """A rendered text with what stands in it for the images of `messages`; here there are none."""
        return text

    def _render(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] | None, mark: str) -> str:
        from jinja2 import TemplateError

        try:
            text = self.tokenizer.apply_chat_template(
                self._marked(list(messages), mark),
                tools=self._marked(list(tools), mark) if tools else None,
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
            )
        except TemplateError as error:
            raise UserError(f"the model's chat template cannot show these messages: {error}") from error
        return str(text)

    def _marked(self, value: Any, mark: str) -> Any:
        """`value` with `mark` put into every control token that its strings spell out."""
        if isinstance(value, str):
            return self._special.sub(lambda found: found.group()[0] + mark + found.group()[1:], value)
        if isinstance(value, dict):
            return {self._marked(key, mark): self._marked(item, mark) for key, item in value.items()}
        return [self._marked(item, mark) for item in value] if isinstance(value, list | tuple) else value

    def _encode(self, text: str, mark: str) -> list[int]:
        """Ids of a rendered text: unmarked control tokens as such, everything else as ordinary text."""
        with self._lock:  # how special tokens are split is a setting of the tokenizer, not of the call
            if mark not in text:
                return list(self.tokenizer.encode(text, add_special_tokens=False))
            ids: list[int] = []
            start = 0
            for found in [*self._special.finditer(text), None]:
                plain = text[start : found.start() if found else None].replace(mark, "")
                ids += self.tokenizer.encode(plain, add_special_tokens=False, split_special_tokens=True)
                if found:
                    ids.append(self._ids[found.group()])
                    start = found.end()
            return ids


def with_hint(messages: Sequence[Message], hint: str) -> list[Message]:
    """The conversation with `hint` added to its last user message, as the teacher of on-policy distillation sees it.

    Raises:
        ValueError: if there is no user message.
    """
    last = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=None)
    if last is None:
        raise ValueError("a hint needs a user message to stand in")
    content, said = messages[last]["content"], f"\n\n{HINT_HEADING}\n{hint}"
    parts = isinstance(content, list)
    hinted = {**messages[last], "content": [*content, {"type": "text", "text": said}] if parts else content + said}
    return [*messages[:last], hinted, *messages[last + 1 :]]


def _with_object(call: dict[str, Any]) -> dict[str, Any]:
    try:
        function = call["function"]
        arguments = msgspec.json.decode(function["arguments"] or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, TypeError, LookupError):  # broken, or no text: as it stands
        return call
    return {**call, "function": {**function, "arguments": arguments}}


def _unused_mark(*values: Any) -> str:
    text = msgspec.json.encode(values).decode()
    return next(mark for mark in map(chr, _MARKS) if mark not in text)
