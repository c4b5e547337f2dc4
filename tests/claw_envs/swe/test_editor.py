"""Viewing, editing and writing files in a real sandbox."""

from collections.abc import Callable
from typing import Any

from claw_envs.core.results import Result
from claw_envs.swe.editor import MOST_SHOWN, Editor
from claw_envs.swe.tools import Edit, Tool, View, Write

InSandbox = Callable[..., Any]

FILES = {
    "a.txt": b"one\ntwo\nthree\n",
    "no-end": b"one\ntwo",
    "twice": b"x = 1\ny = 2\nx = 1\n",
    "empty": b"",
    "crlf": b"one\r\ntwo\r\n",
    "latin": b"caf\xe9\nx\n",
    "long": b"".join(b"line %d\n" % i for i in range(5000)),
    "wide": b"x" * 10_000 + b"\nnext\n",
    "sub dir/ü.py": b"    if a:\n        b()\n",
    "big": b"x" * 10_000_001,
}


def do(
    in_sandbox: InSandbox, *calls: Tool, script: str = ":", cwd: str = "/app"
) -> tuple[list[Result], dict[str, bytes]]:
    """What each call gives, and then what the files hold that are there."""

    async def body(sandbox: Any) -> tuple[list[Result], dict[str, bytes]]:
        for name, content in FILES.items():
            await sandbox.put(f"/app/{name}", content)
        await sandbox.exec(["/bin/bash", "-c", script], timeout=30)
        editor, results = Editor(sandbox), []
        for call in calls:
            match call:
                case View():
                    results.append(await editor.view(call, cwd=cwd, limit=30))
                case Edit():
                    results.append(await editor.edit(call, cwd=cwd, limit=30))
                case Write():
                    results.append(await editor.write(call, cwd=cwd, limit=30))
        after = {}
        for call in calls:
            try:
                after[call.path] = await sandbox.get(call.path)
            except OSError:
                continue
        return results, after

    return in_sandbox(body, workdir="/app", output_bytes=10_000)


def test_files_and_parts_of_files_are_shown(in_sandbox: InSandbox) -> None:
    calls = [
        View("a.txt"),
        View("/app/a.txt", 2),
        View("a.txt", 2, 2),
        View("a.txt", 3, 99),
        View("no-end"),
        View("empty"),
    ]
    results, _ = do(in_sandbox, *calls, View("latin"), View("sub dir/ü.py"))
    assert [result.head for result in results] == [
        "exit 0 | /app | lines 1-3 of 3",
        "exit 0 | /app | lines 2-3 of 3",
        "exit 0 | /app | lines 2-2 of 3",
        "exit 0 | /app | lines 3-3 of 3",
        "exit 0 | /app | lines 1-2 of 2",
        "exit 0 | /app | empty",
        "exit 0 | /app | lines 1-2 of 2",
        "exit 0 | /app | lines 1-2 of 2",
    ]
    assert results[0].text == "     1\tone\n     2\ttwo\n     3\tthree"
    assert results[2].text == "     2\ttwo"
    assert results[6].text == "     1\tcaf\ufffd\n     2\tx"


def test_a_long_file_is_shown_in_parts(in_sandbox: InSandbox) -> None:
    [first, rest, wide], _ = do(in_sandbox, View("long"), View("long", 4990), View("wide"))
    assert len(first.text) < MOST_SHOWN + 100
    last = int(first.head.split("-")[1].split()[0])
    assert first.text.endswith(f"line {last - 1}\n[too long to show at once: go on with start={last + 1}]")
    assert rest.head == "exit 0 | /app | lines 4990-5000 of 5000"
    assert wide.text == f"     1\t{'x' * 2000} [... 8000 more]\n     2\tnext"


def test_what_cannot_be_shown_is_explained(in_sandbox: InSandbox) -> None:
    script = "mkfifo pipe; chmod 0 a.txt; ln -s gone link"
    names = ["gone", "sub dir", "pipe", "a.txt", "link", "big", "n" * 300, "x" * 200_000]
    results, _ = do(in_sandbox, *map(View, names), View("no-end", 3), script=script)
    for result, said in zip(
        results,
        ["no such file", "is a folder", "not a regular file", "permission denied", "no such file", "use bash",
         "no such file", "Argument list too long", "has only 2 lines"],
        strict=True,
    ):  # fmt: skip
        assert said in result.text
        assert result.exit_code == 1 or not result.ran


def test_an_edit_changes_that_piece_only(in_sandbox: InSandbox) -> None:
    results, after = do(
        in_sandbox,
        Edit("a.txt", "two\nthr", "2\n3\n4"),
        Edit("no-end", "two", ""),
        Edit("crlf", "two", "drei"),
        Edit("latin", "x", "naïve"),
        Edit("sub dir/ü.py", "        b()\n", "        b()\n        c()\n"),
        script="chmod 755 a.txt",
    )
    assert [(result.head, result.exit_code) for result in results] == [("exit 0 | /app", 0)] * 5
    assert results[0].text == "a.txt now reads:\n     1\tone\n     2\t2\n     3\t3\n     4\t4ee"
    assert after["a.txt"] == b"one\n2\n3\n4ee\n"
    assert after["no-end"] == b"one\n"
    assert after["crlf"] == b"one\r\ndrei\r\n"
    assert after["latin"] == "caf\udce9\nnaïve\n".encode(errors="surrogateescape")
    assert after["sub dir/ü.py"] == b"    if a:\n        b()\n        c()\n"


def test_an_edit_shows_its_neighbourhood(in_sandbox: InSandbox) -> None:
    [result], _ = do(in_sandbox, Edit("long", "line 2500\n", "here\n"))
    assert result.text.splitlines()[1:] == [f"{i + 1:>6}\tline {i}" for i in range(2497, 2500)] + [
        "  2501\there",
        *(f"{i + 1:>6}\tline {i}" for i in range(2501, 2504)),
    ]


def test_an_edit_of_what_is_not_there_once_changes_nothing(in_sandbox: InSandbox) -> None:
    calls = [Edit("twice", "x = 1", "x = 3"), Edit("a.txt", "four", "x"), Edit("a.txt", "  two", "x")]
    calls += [Edit("crlf", "one\ntwo", "x"), Edit("gone", "a", "b"), Edit("empty", "a", "b")]
    results, after = do(in_sandbox, *calls)
    for result, said in zip(
        results,
        ["occurs 2 times in twice, at lines 1, 3", "does not occur", "without the blanks around it, it does",
         "end with CRLF", "no such file", "does not occur"],
        strict=True,
    ):  # fmt: skip
        assert said in result.text
        assert result.exit_code == 1
    assert after == {name: FILES[name] for name in ("twice", "a.txt", "crlf", "empty")}


def test_files_are_written_through_links_with_their_mode(in_sandbox: InSandbox) -> None:
    async def body(sandbox: Any) -> tuple[list[Result], str]:
        await sandbox.exec(["/bin/bash", "-c", "echo x > run; chmod 755 run; ln -s run link; chmod 0 no"], timeout=30)
        editor = Editor(sandbox)
        calls = [Write("link", "naïve\n"), Write("new dir/é", ""), Write("/proc/x", ""), Write("run/x", "")]
        results = [await editor.write(call, cwd="/app", limit=30) for call in calls]
        listed = await sandbox.exec(["/bin/bash", "-c", "cat run; stat -c '%a %F' run link 'new dir/é'"], timeout=30)
        return results, listed.output

    results, listed = in_sandbox(body, workdir="/app")
    assert results[0] == Result("exit 0 | /app", "wrote 7 bytes to link", 0)
    assert [result.exit_code == 0 for result in results] == [True, True, False, False]
    assert listed.splitlines() == ["naïve", "755 regular file", "777 symbolic link", "644 regular empty file"]


def test_the_working_directory_may_be_gone(in_sandbox: InSandbox) -> None:
    results, _ = do(in_sandbox, View("a.txt"), Write("x", ""), Write("/app/y", ""), cwd="/gone")
    assert [result.exit_code == 0 for result in results] == [False, False, True]
