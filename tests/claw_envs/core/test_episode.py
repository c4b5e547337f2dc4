from claw_envs.core.episode import Answer, Observation


def test_an_observation_is_one_user_message_unless_calls_are_answered() -> None:
    assert Observation(role="environment", text="what?").messages() == [{"role": "user", "content": "what?"}]
    observation = Observation(role="tool", text="[1/2] a\n[2/2] b", answers=[Answer("x", "a"), Answer("y", "b")])
    assert observation.messages() == [
        {"role": "tool", "tool_call_id": "x", "content": "a"},
        {"role": "tool", "tool_call_id": "y", "content": "b"},
    ]
