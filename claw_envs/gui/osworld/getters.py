"""What OSWorld's evaluators look at, read from a machine: those getters that need nothing of a vendor's.

A getter that brings a file returns the path of its copy on this side, or None where there is none, as OSWorld's do: so
the metrics of either take what the getters of either found. Not covered, and left to OSWorld's own package: what is
asked of the web or of a browser's debugging port, and documents that are opened for a getter.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from claw_envs.core.errors import InfrastructureError
from claw_envs.gui.osworld.place import Place
from claw_envs.gui.screen import Ran

Getter = Callable[[Place, dict[str, Any]], Awaitable[Any]]

GETTERS: dict[str, Getter] = {}
"""By the name that tasks give in `type`."""
_VIDEO_TYPES = (
    "3gp 3gpp avi divx dv fli flv mp2t mp4 mp4v-es mpeg msvideo ogg quicktime webm x-flv x-matroska x-msvideo"
)
_CHROME = (".config/google-chrome", ".config/chromium")
_BROWSERS = ("Google Chrome", "Chromium")
_ADDRESS_BAR = "Address and search bar"


def _getter(function: Getter) -> Getter:
    GETTERS[function.__name__.removeprefix("get_")] = function
    return function


@_getter
async def get_rule(place: Place, config: dict[str, Any]) -> Any:
    """What the task itself says."""
    return config["rules"]


@_getter
async def get_time_diff_range(place: Place, config: dict[str, Any]) -> Any:
    """A number of minutes that the task says."""
    return config["diff_range_in_minutes"]


@_getter
async def get_vm_file(place: Place, config: dict[str, Any]) -> Any:
    """A file of the machine, or several."""
    if not config.get("multi"):
        return await _file(place, config["path"], config["dest"])
    found = [await _file(place, path, name) for path, name in zip(config["path"], config["dest"], strict=True)]
    return _given(found, config)


@_getter
async def get_cloud_file(place: Place, config: dict[str, Any]) -> Any:
    """A file of the web, or several, from the user's cache folder."""
    if not config.get("multi"):
        return str(place.cached(config["path"], config["dest"]))
    pairs = zip(config["path"], config["dest"], strict=True)
    return _given([str(place.cached(url, name)) for url, name in pairs], config)


def _given(found: list[str | None], config: dict[str, Any]) -> Any:
    """Those of several files that the metric gets."""
    chosen = [each for index, each in enumerate(found) if index in config.get("gives", [0])]
    return chosen[0] if len(chosen) == 1 else chosen


@_getter
async def get_cache_file(place: Place, config: dict[str, Any]) -> Any:
    """What a step of set-up kept, such as a command's output."""
    path = place.folder / Path(str(config["path"])).name  # as `Place.keep` names it
    return str(path) if path.is_file() else None


@_getter
async def get_vm_command_line(place: Place, config: dict[str, Any]) -> Any:
    """What a command prints; None where it cannot be started."""
    ran = await _run(place, config)
    return None if ran is None else ran.output


@_getter
async def get_vm_command_error(place: Place, config: dict[str, Any]) -> Any:
    """What a command complains of; None where it cannot be started."""
    ran = await _run(place, config)
    return None if ran is None else ran.error


async def _run(place: Place, config: dict[str, Any]) -> Ran | None:
    try:
        return await place.machine.execute(config["command"], shell=bool(config.get("shell", False)))
    except OSError:
        return None


@_getter
async def get_vm_terminal_output(place: Place, config: dict[str, Any]) -> Any:
    """What the active terminal shows."""
    return await place.machine.terminal_output()


@_getter
async def get_accessibility_tree(place: Place, config: dict[str, Any]) -> Any:
    """The tree as XML."""
    return await place.machine.accessibility()


@_getter
async def get_list_directory(place: Place, config: dict[str, Any]) -> Any:
    """A folder and what is in it."""
    return await place.machine.list_directory(config["path"])


@_getter
async def get_vm_screen_size(place: Place, config: dict[str, Any]) -> Any:
    """Of the screen, in pixels."""
    width, height = place.machine.size
    return {"width": width, "height": height}


@_getter
async def get_vm_window_size(place: Place, config: dict[str, Any]) -> Any:
    """Of a program's window, in pixels."""
    size = await place.machine.window_size(config["app_class_name"])
    return None if size is None else {"width": size[0], "height": size[1]}


@_getter
async def get_vm_wallpaper(place: Place, config: dict[str, Any]) -> Any:
    """The desktop's background, as a file."""
    return place.keep(config["dest"], await place.machine.wallpaper())


@_getter
async def get_vlc_config(place: Place, config: dict[str, Any]) -> Any:
    """VLC's settings."""
    return await _file(place, await _at_home(place, ".config/vlc/vlcrc"), config["dest"])


@_getter
async def get_gimp_config_file(place: Place, config: dict[str, Any]) -> Any:
    """A file of GIMP's settings."""
    return await _file(place, await _at_home(place, f".config/GIMP/2.10/{config['file_name']}"), config["dest"])


@_getter
async def get_default_video_player(place: Place, config: dict[str, Any]) -> Any:
    """The program that opens most kinds of video."""
    ask = f"for kind in {_VIDEO_TYPES}; do xdg-mime query default video/$kind; done"
    ran = await _run(place, {"command": ask, "shell": True})
    players = Counter(ran.output.split() if ran else ())
    return players.most_common(1)[0][0] if players else "unknown"


@_getter
async def get_active_url_from_accessTree(place: Place, config: dict[str, Any]) -> Any:  # noqa: N802 - OSWorld's name
    """What a browser's address bar shows, as an address."""
    root = tree_of(await place.machine.accessibility())
    bars = [
        entry
        for application in root.iter("application")
        if application.get("name") in _BROWSERS
        for entry in application.iter("entry")
        if entry.get("name") == _ADDRESS_BAR
    ]
    return f"{config.get('goto_prefix', 'https://')}{bars[0].text}" if bars and bars[0].text else None


@_getter
async def get_bookmarks(place: Place, config: dict[str, Any]) -> Any:
    """A browser's bookmarks, by root."""
    found = await _chrome(place, "Bookmarks")
    roots = found.get("roots", {})
    return roots if isinstance(roots, dict) else {}


def _preference(name: str, keys: tuple[str, ...], shown: Callable[[Any], Any], absent: Any = None) -> None:
    """A getter of one value in a browser's preferences."""

    async def get(place: Place, config: dict[str, Any]) -> Any:
        value: Any = await _chrome(place, "Preferences")
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return shown(absent if value is None else value)

    GETTERS[name] = get


def _yes_or_no(value: Any) -> str:
    return "true" if value else "false"


def _is_safe(settings: Any) -> str:
    return _yes_or_no(isinstance(settings, dict) and (settings.get("enhanced") or settings.get("enabled")))


def _opens_new_tab(session: Any) -> str:
    """Whether a browser starts with a new tab; what was never set does."""
    return _yes_or_no(session is None or (isinstance(session, dict) and session.get("restore_on_startup") == 5))


_preference("enable_do_not_track", ("enable_do_not_track",), _yes_or_no)
_preference("enable_enhanced_safety_browsing", ("safebrowsing", "enhanced"), _yes_or_no)
_preference("enable_safe_browsing", ("safebrowsing",), _is_safe)
_preference("new_startup_page", ("session",), _opens_new_tab)
_preference(
    "data_delete_automacally",
    ("profile", "default_content_setting_values"),
    lambda value: _yes_or_no(value is not None),
)
_preference("profile_name", ("profile", "name"), lambda value: value)
_preference("chrome_font_size", ("webkit", "webprefs"), lambda value: value, {"default_font_size": 16})
_preference(
    "default_search_engine",
    ("default_search_provider_data", "template_url_data", "short_name"),
    lambda value: value,
    "Google",
)


def tree_of(xml: str) -> ElementTree.Element:
    """An accessibility tree.

    Raises:
        InfrastructureError: if the machine sent something else.
    """
    try:
        return ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise InfrastructureError(f"the machine's accessibility tree is not XML: {error}") from error


async def _chrome(place: Place, name: str) -> dict[str, Any]:
    """A JSON file of a browser's first profile; empty where there is none that can be read."""
    for folder in _CHROME:
        try:
            found = json.loads(await place.machine.read_file(await _at_home(place, f"{folder}/Default/{name}")))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    return {}


async def _at_home(place: Place, path: str) -> str:
    ran = await place.machine.execute(["sh", "-c", 'printf %s "$HOME"'])
    return f"{ran.output.strip().rstrip('/')}/{path}"


async def _file(place: Place, path: str, name: str) -> str | None:
    try:
        return place.keep(name, await place.machine.read_file(path))
    except OSError:
        return None
