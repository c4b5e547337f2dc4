from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.swe.recipe import read_recipe

ROOT = Path(__file__).parents[4]


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    return path


def test_an_empty_file_is_the_hosts_own_python(tmp_path: Path) -> None:
    recipe = read_recipe(_write(tmp_path, ""))
    assert (recipe.python, recipe.packages, recipe.install, recipe.env) == ("system", (), (), {})


def test_paths_are_from_the_file_or_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for table, name, found in (
        ('history = "patches"', "history", str(tmp_path / "patches")),
        ('path = "../flask"', "path", str(tmp_path / "../flask")),
        ('path = "~/flask"', "path", "/home/me/flask"),
        ('path = "/srv/flask"', "path", "/srv/flask"),
        ('url = "https://example.org/flask"', "url", "https://example.org/flask"),
    ):
        recipe = read_recipe(_write(tmp_path, f"[repository]\n{table}\n"))
        assert getattr(recipe.repository, name) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pyhton = '3.9'", "pyhton"),
        ("packages = 'pytest'", "Expected `array`"),
        ("python = 3.9", "Expected `str`, got `float`"),
        ("[repository]\npath = 'a'\nurl = 'b'", "takes one of path, url"),
        ("[tests]\nlog_parser = 'parse_log_pytest'", "command"),
        ("python =", "Invalid value"),
        ("install = ['x', \"a\\u0000b\"]", r"cannot hold the character \\u0000"),
        ('env = {A = "\\u0000"}', r"cannot hold the character \\u0000"),
        ("env = {'A=B' = 'c'}", "env: 'A=B' is no name of a variable"),
        ("env = {'' = 'c'}", "env: '' is no name of a variable"),
        ("packages = ['--help']", "packages: '--help' is no package"),
        ("packages = [' ']", "packages: ' ' is no package"),
    ],
)
def test_mistakes_are_named_with_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=rf"recipe\.toml: .*{said}"):
        read_recipe(_write(tmp_path, text))


@pytest.mark.parametrize("example", sorted((ROOT / "examples/swe").glob("*.toml")), ids=lambda path: path.name)
def test_the_examples_pin_everything(example: Path) -> None:
    recipe = read_recipe(example)
    assert all("==" in package for package in recipe.packages)
    assert recipe.repository.url.startswith("https://")
    assert recipe.tests is not None


def test_the_documented_file_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs/swe-recipes.md").read_text()
    recipe = read_recipe(_write(tmp_path, page.partition("```toml\n")[2].partition("```")[0]))
    assert recipe.python == "3.11"
    assert recipe.tests is not None


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read_recipe(tmp_path / "none.toml")
