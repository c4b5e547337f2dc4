"""What the agent is told before the first message: which tools there are, and how it writes calls and answers.

The examples say what form is meant, with the form's own writer, so that what is shown is what can be read.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

from claw_envs.core.episode import Message
from claw_envs.wire import write
from claw_envs.wire.calls import Call, Form

FORMS: tuple[Form, ...] = get_args(Form)


class _Example(NamedTuple):
    question: str
    code: str
    printed: str

    def messages(self, form: Form) -> list[Message]:
        call = write([Call("python", {"code": self.code})], form)
        return [
            {"role": "user", "content": self.question},
            {"role": "assistant", "content": call},
            {"role": "user", "content": f"[ok]\n{self.printed}"},
            {"role": "assistant", "content": f"\\boxed{{{self.printed}}}"},
        ]


_EXAMPLES = (
    _Example("What is 12 * 34?", "print(12 * 34)", "408"),
    _Example("How many letters are in the word 'banana'?", "print(len('banana'))", "6"),
    _Example("What is the sum of the first 20 squares?", "print(sum(n * n for n in range(1, 21)))", "2870"),
)
MOST_EXAMPLES = len(_EXAMPLES)
_ANSWER = "When you know the answer, write it without calling a tool, in \\boxed{}."
_CODE_EXAMPLE = Call("python", {"code": "print(12 * 34)"})


def answering_prompt(tools: Sequence[dict[str, Any]], form: Form) -> str:
    """The system prompt for a question.

    Args:
        tools: OpenAI function schemas.
        form: how calls are to be written; `openai` leaves the tools to whoever runs the episode.
    """
    if not tools:
        return "Answer the question. Write the final answer in \\boxed{}."
    if form in ("fenced", "code"):
        example = write([_CODE_EXAMPLE], form)
        return (
            "Answer the question with the help of Python. Write code like this; it is run, and you are shown what it "
            f"prints:\n\n{example}\n\n{_ANSWER}"
        )
    return "\n\n".join(["Answer the question with the help of tools.", *_explained(tools, form), _ANSWER])


def worked_examples(count: int, form: Form) -> tuple[Message, ...]:
    """The first `count` questions that Python answers, as messages of an earlier conversation."""
    return tuple(message for example in _EXAMPLES[:count] for message in example.messages(form))


def calling_prompt(tools: Sequence[dict[str, Any]], form: Form) -> str:
    """The system prompt for a test of function calling; empty where the form explains itself."""
    explained = _explained(tools, form)
    if not explained:
        return ""
    rule = "Call functions where they help to do what the user wants; where none fits, say so without a call."
    return "\n\n".join([rule, *explained])


def _explained(tools: Sequence[dict[str, Any]], form: Form) -> list[str]:
    """The tools and how to call them, in paragraphs."""
    if form == "openai" or not tools:
        return []
    shown = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    example = write([Call("name_of_the_tool", {"argument": "value"})], form)
    return [f"The tools are:\n{shown}", f"Write a call like this; several may follow each other:\n\n{example}"]
