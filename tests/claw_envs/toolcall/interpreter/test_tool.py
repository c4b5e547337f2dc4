"""The tool `python` as a source of tools."""

import asyncio
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.interpreter.tool import PythonTools


@pytest.mark.filterwarnings("ignore:the local sandbox isolates nothing")
def test_an_episode_has_an_interpreter_of_its_own() -> None:
    async def main() -> None:
        lease, source, spec = Lease("local"), PythonTools(), SandboxSpec()
        try:
            await lease.take(spec)
            (tool,) = await source.start(lease)
            assert tool.schema["function"]["name"] == tool.name == "python"
            assert await tool.call({"code": "x = 1\nx"}, timeout=60) == ("1", False, None)
            assert (await tool.call({"code": "1 / 0"}, timeout=60)).error
            stopped = await tool.call({"code": "while True: pass"}, timeout=0.25)
            assert (stopped.error, stopped.head) == (True, "stopped after 0.25 s")
            await lease.take(spec)
            (tool,) = await source.start(lease)
            assert "NameError" in (await tool.call({"code": "x"}, timeout=60)).text
        finally:
            await source.close()
            await source.close()
            await lease.give_back()

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore:the local sandbox isolates nothing")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"code": "1"}, None),
        ({"code": " \n"}, "the code is empty."),
        ({}, "the argument `code` is missing."),
        ({"code": 1}, "argument `code`: 1 is not of type 'string'."),
        ({"code": "1", "codes": ""}, "there is no argument `codes`."),
    ],
)
def test_arguments_are_checked(arguments: dict[str, Any], problem: str | None) -> None:
    async def main() -> str | None:
        lease, source = Lease("local"), PythonTools()
        await lease.take(SandboxSpec())
        try:
            (tool,) = await source.start(lease)
            return tool.check(arguments)
        finally:
            await source.close()
            await lease.give_back()

    found = asyncio.run(main())
    assert found is problem is None or (found is not None and problem is not None and found.startswith(problem))


def test_it_needs_a_sandbox() -> None:
    with pytest.raises(UserError, match="needs a sandbox"):
        asyncio.run(PythonTools().start(Lease("local")))
