from claw_envs.core.episode import Answer, Observation, content_of


def test_an_observation_is_one_user_message_unless_calls_are_answered() -> None:
    assert Observation(role="environment", text="what?").messages() == [{"role": "user", "content": "what?"}]
    observation = Observation(role="tool", text="[1/2] a\n[2/2] b", answers=[Answer("x", "a"), Answer("y", "b")])
    assert observation.messages() == [
        {"role": "tool", "tool_call_id": "x", "content": "a"},
        {"role": "tool", "tool_call_id": "y", "content": "b"},
    ]


def test_what_a_message_says() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}]
    assert content_of({"role": "user", "content": parts}) == "one\n[image_url]"
    assert [content_of(message) for message in ({"content": "x"}, {"content": None}, {})] == ["x", "", ""]
