"""Where the final answer of a response stands."""

import pytest

from claw_envs.toolcall.answers.extract import final_answer, final_json, last_box

CASES = [
    (r"So \boxed{42}.", "42"),
    (r"\boxed{1} and then \boxed{2}", "2"),
    (r"\boxed{\frac{1}{\sqrt{2}}}", r"\frac{1}{\sqrt{2}}"),
    (r"\boxed {  5 }", "5"),
    (r"\fbox{5}", "5"),
    (r"\boxed 5", "5"),
    (r"$\boxed5$.", "5"),
    (r"\boxed{\{1,2\}}", r"\{1,2\}"),
    (r"\boxed{\text{A \} brace}}", r"\text{A \} brace}"),
    (r"a stray } and { then \boxed{7}", "7"),
    (r"\boxed{3} and cut off at \boxed{4", "3"),
    (r"\boxed{}", ""),
    ("Answer: 42", "42"),
    ("**Answer:** 42", "42"),
    ("**Answer**: $42$.", "42"),
    ("The answer is 42.", "42"),
    ("the answer is: **42**", "42"),
    ("Answer: 1\nNo, wait.\nAnswer: 2", "2"),
    ("The final answer is $\\frac{1}{2}$. I hope it is correct.", r"\frac{1}{2}"),
    ("### Final Answer\n\n$7$", "7"),
    ("Final answer:\n$$\nx = 7\n$$", "x = 7"),
    ("work work\n#### 1,234", "1,234"),
    ("The answer is 5 because 2 + 3 = 5.", "5"),
    ("The answer is 5, since $2 + 3 = 5$.", "5"),
    ("The answer is $x=1$ and $x=2$.", "x=1, x=2"),
    ("Answer: 5\nAnswer:", "5"),
    ("42", "42"),
    (" **42** ", "42"),
    ("1/2.", "1/2"),
    ("So there are 6 hens and 7 cows in the yard", "7"),
    ("We get $a = 1$. Then it follows that $b = 2$.", "b = 2"),
    (r"It must be that \(x^2\) is right", "x^2"),
    ("nothing to see here, sorry for that", "nothing to see here, sorry for that"),
    (r"<think>\boxed{1}</think>\boxed{2}", "2"),
    (r"<think>\boxed{1}</think>The answer is 2", "2"),
    (r"thought \boxed{1}</think>", None),
    (r"<think>\boxed{1}", None),
    (r"\boxed{2}<think>\boxed{1}", "2"),
    ("", None),
    ("\n \n", None),
]


@pytest.mark.parametrize(("response", "answer"), CASES, ids=range(len(CASES)))
def test_the_final_answer_is_found(response: str, answer: str | None) -> None:
    assert final_answer(response) == answer


@pytest.mark.parametrize("response", ["42", "Answer: 42", "#### 42", r"\boxed{42"])
def test_strict_takes_only_a_box(response: str) -> None:
    assert final_answer(response, strict=True) is None
    assert final_answer(response + r" so \boxed{7}", strict=True) == "7"


def test_text_is_read_as_it_is() -> None:
    assert final_answer("It is in Paris.\n", reading="text") == "It is in Paris."
    assert final_answer("Answer: the $5 bill", reading="text") == "the $5 bill"


@pytest.mark.parametrize(
    "response",
    [
        "{" * 1_000_000,
        "}" * 1_000_000,
        "\\" * 1_000_000,
        r"\boxed{" * 100_000,
        r"\boxed" * 150_000,
        r"\boxed " * 150_000,
        "$" * 999_999,
        r"\(" * 500_000,
        r"\[" * 500_000,
        "answer " * 150_000,
        "answer:" * 150_000,
        "answer:\n" * 100_000,
        "#### \n" * 150_000,
        "<think>" * 150_000,
        "</think>" * 150_000,
        "1" * 1_000_000,
        "1," * 500_000,
        "*" * 1_000_000,
        " " * 1_000_000,
        "a " * 500_000,
        "The answer is a" + " " * 1_000_000 + "b",
        "```\n" + " " * 1_000_000,
        "```json\n" * 100_000,
    ],
    ids=lambda text: ascii(text[:10]),
)
def test_hostile_text_is_read_in_one_pass(response: str) -> None:
    final_answer(response)
    final_answer(response, reading="text")
    final_json(response)


def test_a_deep_box_is_found_whole() -> None:
    deep = r"\boxed{" * 50_000 + "}" * 50_000
    assert last_box(deep) == deep[7:-1]
