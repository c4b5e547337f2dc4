"""Rows of every public set, in the columns it is published with, become tasks."""

import re
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.toolcall.data.questions import tasks_of

ASKED_BY_DAPO = (
    "Solve the following math problem step by step. The last line of your response should be of the form Answer: "
    "$Answer (without quotes) where $Answer is the answer to the problem.\n\n{question}\n\n"
    'Remember to put your answer on its own line after "Answer:".'
)


def dapo(question: str, answer: str) -> dict[str, Any]:
    return {
        "data_source": "math_dapo",
        "prompt": [{"content": ASKED_BY_DAPO.format(question=question), "role": "user"}],
        "ability": "MATH",
        "reward_model": {"ground_truth": answer, "style": "rule-lighteval/MATH_v2"},
        "extra_info": {"index": "9a9b6eb4-a1cb-49d1-8c1e-62eaf2f74079"},
    }


LAYOUTS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "dapo": (dapo("What is\n\n$1 + 1$?", "2"), "What is\n\n$1 + 1$?", "2", "dapo-00001"),
    "HuggingFaceH4/aime_2024": (
        {"id": 60, "problem": "Find $n$.", "solution": "It is 204.", "answer": "204", "url": "http", "year": "2024"},
        "Find $n$.",
        "204",
        "aime24-60",
    ),
    "Maxwell-Jia/AIME_2024": (
        {"ID": "2024-I-1", "Problem": "Find $n$.", "Solution": "It is 204.", "Answer": 204},
        "Find $n$.",
        "204",
        "aime24-2024-I-1",
    ),
    "opencompass/AIME2025": ({"question": "Find $n$.", "answer": "70"}, "Find $n$.", "70", "aime25-00001"),
    "openai/gsm8k": (
        {"question": "How many clips?", "answer": "48/2 = <<48/2=24>>24\n#### 1,072"},
        "How many clips?",
        "1072",
        "gsm8k-00001",
    ),
    "HuggingFaceH4/MATH-500": (
        {
            "problem": "Convert $(0,3)$ to polar coordinates.",
            "solution": "It is …",
            "answer": "\\left( 3, \\frac{\\pi}{2} \\right)",
            "subject": "Precalculus",
            "level": 2,
            "unique_id": "test/precalculus/807.json",
        },
        "Convert $(0,3)$ to polar coordinates.",
        "\\left( 3, \\frac{\\pi}{2} \\right)",
        "math500-test-precalculus-807.json",
    ),
    "of one's own": ({"prompt": " Why? ", "answer": "because"}, "Why?", "because", "mine-00001"),
    "chat": (
        {"prompt": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Why?"}], "answer": "so"},
        "Why?",
        "so",
        "mine-00001",
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    row, question, answer, task_id = LAYOUTS[layout]
    [task] = tasks_of([row], re.split(r"-(?=\d|test)", task_id)[0])
    assert (task.instruction, task.verifier.options, task.id) == (question, {"answer": answer, "kind": "math"}, task_id)
    assert (task.family, task.verifier.kind) == ("toolcall", "answer")
    assert task.sandbox is not None
    assert task.sandbox.network == "none"


def test_a_question_is_asked_once() -> None:
    rows = [dapo("A?", "1"), dapo("B?", "2"), dapo("A?", "1"), dapo("A?", "1"), dapo("A?", "3")]
    tasks = list(tasks_of(rows, "dapo"))
    assert [(task.id, task.instruction) for task in tasks] == [
        ("dapo-00001", "A?"),
        ("dapo-00002", "B?"),
        ("dapo-00003", "A?"),
    ]


def test_how_to_compare_and_what_else_a_row_says_is_kept() -> None:
    row = {
        "question": "Which?",
        "answer": [1, 2],
        "kind": "set",
        "options": {"multiset": True, "case": None},
        "id": "a b/c",
        "level": 3,
        "subject": None,
    }
    [task] = tasks_of([row], "mine")
    assert task.id == "mine-a-b-c"
    assert task.verifier.options == {"answer": [1, 2], "kind": "set", "multiset": True}
    assert task.metadata == {"set": "mine", "level": 3}


def test_an_answer_of_zero_is_one() -> None:
    assert next(tasks_of([{"question": "1 - 1?", "answer": 0}], "mine")).verifier.options["answer"] == "0"


@pytest.mark.parametrize("options", [{}, {"strict": True}])
@pytest.mark.parametrize("answer", [True, {"a": [1]}, "text"])
def test_an_answer_in_json_is_kept_as_it_is(answer: Any, options: dict[str, Any]) -> None:
    [task] = tasks_of([{"question": "q", "answer": answer, "kind": "json", "options": options}], "mine")
    assert task.verifier.options == {"answer": answer, "kind": "json", **options}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "q", "answer": "1"}, r"mine, row 2: no question: .* `question` or `problem` .*; it has \['answer', "),
        ({"question": "  ", "answer": "1"}, "row 2: no question"),
        ({"question": 7, "answer": "1"}, "row 2: no question"),
        ({"prompt": [{"role": "system", "content": "q"}], "answer": "1"}, "row 2: no question"),
        ({"prompt": [], "answer": "1"}, "row 2: no question"),
        ({"question": "q", "result": "1"}, r"row 2: no answer: .* `answer` or `Answer` .*; it has \['question', 're"),
        ({"question": "q", "answer": None}, "row 2: no answer"),
        ({"question": "q", "answer": ""}, "row 2: no answer"),
        ({"question": "q", "answer": "7", "options": ["case"]}, "row 2: options must be an object"),
        ({"question": "q", "answer": "7", "kind": "nummeric"}, "row 2: unknown kind of answer 'nummeric': use one of"),
        ({"question": "q", "answer": "7", "kind": ["set"]}, "row 2: unknown kind"),
        ({"question": "q", "answer": {"a": 1}}, "row 2: an answer of kind math is text or a number, not dict"),
        ({"question": "q", "answer": True}, "row 2: an answer of kind math is text or a number, not bool"),
        ({"question": "q", "answer": "four", "kind": "numeric"}, "row 2: the expected answer 'four' is no number"),
        ({"question": "q", "answer": "7", "options": {"case": True}}, "row 2: unknown option 'case'"),
        ({"question": "q", "answer": "7", "options": {"kind": "set"}}, "row 2: unknown option 'kind'"),
        ({"question": "q", "answer": 7, "kind": "numeric", "options": {"rel_tol": "1%"}}, "row 2: option 'rel_tol' of"),
    ],
)
def test_rows_that_are_no_questions(row: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        list(tasks_of([{"question": "fine", "answer": "1"}, row], "mine"))
