"""Metrics over settings of single applications: VLC, GIMP, LibreOffice, a browser."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from claw_envs.gui.osworld.metrics.reading import text_of

_VLC_COLOURS = "153;210;153;20;210;20;255;199;15;245;39;29"
_DARK = 100
"""Of 255, below which a colour's parts make it black enough."""
_REGISTRY = "{http://openoffice.org/2001/registry}"
_SAVING, _AUTO_SAVE = "/org.openoffice.Office.Common/Save/Document", "AutoSaveTimeIntervall"


def _vlc_option(name: str, option: str, default: str) -> Callable[..., float]:
    """A metric: an option of VLC's has the value of the rule `expected_…`."""

    def check(result: Any, rules: dict[str, Any]) -> float:
        found = _vlc_value(result, option)
        return float(result is not None and (found or default) == str(rules[f"expected_{option.replace('-', '_')}"]))

    check.__name__ = name
    return check


def is_vlc_recordings_folder(result: Any, rules: dict[str, Any]) -> float:
    """VLC records into a folder."""
    return float(_vlc_value(result, "input-record-path") == rules["recording_file_path"])


def check_qt_slider_colours(result: Any, rules: dict[str, Any]) -> float:
    """VLC's volume slider has given colours (`type: match`), or only dark ones (`blackish`)."""
    if result is None:
        return 0.0
    colours = _vlc_value(result, "qt-slider-colours") or _VLC_COLOURS
    if rules["type"] == "match":
        return float(colours == rules["expected_qt_slider_colours"])
    return float(all(part.isdigit() and int(part) < _DARK for part in colours.split(";")))


def _vlc_value(path: Any, option: str) -> str | None:
    """What VLC's settings say last; what is commented out is at its default."""
    text = text_of(path) or ""
    values = [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith(f"{option}=")]
    return values[-1] if values else None


def check_config_status(result: Any, rules: dict[str, Any]) -> float:
    """A line of GIMP's settings, `(key … value)`, has the value; `key` may be two words."""
    key, value = rules["key"], rules["value"]
    wanted = [key] if isinstance(key, str) else list(key)
    for line in (text_of(result) or "").splitlines():
        words = line.strip().lstrip("(").rstrip(")").split()
        if not line.startswith("#") and words[: len(wanted)] == wanted and words[-1] == value:
            return 1.0
    return 0.0


def check_auto_saving_time(result: Any, rules: dict[str, Any]) -> float:
    """LibreOffice saves by itself every so many minutes."""
    try:
        root = ElementTree.fromstring(text_of(result) or "")
    except ElementTree.ParseError:
        return 0.0
    minutes = [
        prop.findtext(".//value")
        for item in root.iter("item")
        if item.get(f"{_REGISTRY}path") == _SAVING
        for prop in item.iter("prop")
        if prop.get(f"{_REGISTRY}name") == _AUTO_SAVE
    ]
    return float(bool(minutes) and minutes[-1] == str(rules["minutes"]))


def check_font_size(result: Any, rules: dict[str, Any]) -> float:
    """A browser's font is of a size (`type: value`), or between two (`range`)."""
    size = result.get("default_font_size") if isinstance(result, dict) else None
    if not isinstance(size, int | float):
        return 0.0
    return float(size == rules["value"] if rules["type"] == "value" else rules["min"] < size < rules["max"])


def is_expected_bookmarks(result: Any, rules: dict[str, Any]) -> float:
    """A browser's bookmarks bar holds the folders or the addresses that are expected, in any order.

    Raises:
        ValueError: if the rule's type is none of OSWorld's.
    """
    bar = _children(result.get("bookmark_bar") if isinstance(result, dict) else None)
    if rules["type"] == "bookmark_bar_folders_names":
        return float({str(each.get("name")) for each in bar if each.get("type") == "folder"} == set(rules["names"]))
    if rules["type"] == "bookmark_bar_websites_urls":
        return float(_urls(bar) == set(rules["urls"]))
    if rules["type"] != "liked_authors_websites_urls":
        raise ValueError(f"there is no rule {rules['type']!r} on bookmarks")
    folders = [each for each in bar if each.get("type") == "folder" and each.get("name") == "Liked Authors"]
    choices = [[url] if isinstance(url, str) else url for url in rules["urls"]]
    return float(bool(folders) and any(set(each) == _urls(_children(folders[0])) for each in product(*choices)))


def _children(folder: Any) -> list[dict[str, Any]]:
    children = folder.get("children") if isinstance(folder, dict) else None
    return [each for each in children if isinstance(each, dict)] if isinstance(children, list) else []


def _urls(bookmarks: list[dict[str, Any]]) -> set[str]:
    return {str(each.get("url")) for each in bookmarks if each.get("type") == "url"}


def is_expected_active_tab_approximate(result: Any, rules: dict[str, Any]) -> float:
    """A browser shows an address, whatever its query is."""
    try:
        found = urlsplit(_url(result) or "")._replace(query="")
    except ValueError:  # it is no address
        return 0.0
    return float(found == urlsplit(rules["url"])._replace(query=""))


def is_expected_url_pattern_match(result: Any, rules: dict[str, Any]) -> float:
    """Every pattern that is expected is in the address that a browser shows."""
    url = _url(result)
    return float(url is not None and all(re.search(pattern, url) for pattern in rules["expected"]))


def _url(result: Any) -> str | None:
    url = result.get("url") if isinstance(result, dict) else result
    return url if isinstance(url, str) and url else None


ALL = (
    _vlc_option("check_qt_bgcone", "qt-bgcone", "1"),
    _vlc_option("check_qt_max_volume", "qt-max-volume", "125"),
    _vlc_option("check_qt_minimal_view", "qt-minimal-view", "0"),
    _vlc_option("check_play_and_exit", "play-and-exit", "0"),
    _vlc_option("check_one_instance_when_started_from_file", "one-instance-when-started-from-file", "1"),
    is_vlc_recordings_folder,
    check_qt_slider_colours,
    check_config_status,
    check_auto_saving_time,
    check_font_size,
    is_expected_bookmarks,
    is_expected_active_tab_approximate,
    is_expected_url_pattern_match,
)
