r"""What stands beside a value: its unit, its percent sign, its base.

The expected answer decides: a unit that only one side has is no difference, two known units that differ are.
"""

import re
from typing import NamedTuple

from claw_envs.toolcall.answers.notation import DOLLAR, WORDS

_ALIASES = {
    "mm": "millimeter millimetre",
    "cm": "centimeter centimetre",
    "m": "meter metre",
    "km": "kilometer kilometre",
    "in": "inch inche",
    "ft": "foot feet",
    "yd": "yard",
    "mi": "mile",
    "mg": "milligram",
    "g": "gram",
    "kg": "kilogram",
    "lb": "pound",
    "oz": "ounce",
    "ml": "milliliter millilitre",
    "l": "liter litre",
    "s": "second sec",
    "min": "minute",
    "h": "hour hr",
    "day": "",
    "week": "",
    "year": "yr",
    "cent": "¢",
    "$": f"{DOLLAR} dollar usd",
    "€": "euro eur",
    "£": "gbp",
    "deg": "^\\circ degree",
    "rad": "radian",
    "mph": "",
    "km/h": "kmh kph",
    "m/s": "",
    "n": "newton",
    "j": "joule",
    "w": "watt",
    "v": "volt",
    "hz": "hertz",
}
_UNITS = {name: unit for unit, aliases in _ALIASES.items() for name in (unit, *aliases.split())}

_CURRENCY = re.compile(rf"^([-+]?)\s?([{DOLLAR}$€£¥])\s?(?=[\d.\\])|(?<=[\d}}])\s?([{DOLLAR}€£¥¢])$")
_PERCENT = re.compile(r"\s?%$")
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_TRIGONOMETRY = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
_DEGREES = re.compile(r"(?<=[\d})])\s?\^\\circ\s?(?:[CFK]$|$)")
_BASE = re.compile(r"^(\d[\dA-F]*)\s?_\{(\d{1,2})\}$")
_MARKED = re.compile(rf"(?<=\S)\s?{WORDS}\s?([^{WORDS}=<>\\]+)$")
_WORDY = re.compile(r"\s*(?!\d)[^\d^]*[A-Za-z][^\d^]*(?:\^\{?-?\d\}?)?\s*$")
_FORMULA = re.compile(r"[\d\\]")
_PLAIN = re.compile(r"(?<=[\d})])( ?)([A-Za-z][A-Za-z/]*(?: [A-Za-z/]+)*(?:\s?\^\{\d\})?)$")


class Quantity(NamedTuple):
    """A value and what stands beside it."""

    body: str
    unit: str | None = None
    """A name of ours where the unit is known, else as it is written."""
    percent: bool = False

    @property
    def known(self) -> bool:
        """Whether the unit is one of ours."""
        return self.unit is not None and self.unit.split("^")[0].removeprefix("base ") in {*_UNITS.values(), *_BASES}


_BASES = {str(base) for base in range(2, 37)}


def quantity(tidied: str, *, variables: bool = True) -> Quantity:
    """A value apart from its unit.

    Args:
        variables: whether a lone letter is a variable; else it is a unit.
    """
    based = _BASE.match(tidied)
    if based:
        return Quantity(based[1], f"base {based[2]}")
    body, percent = _PERCENT.subn("", tidied)
    if percent:
        return Quantity(body, percent=True)
    currency = _CURRENCY.search(tidied)
    if currency:
        return quantity(_CURRENCY.sub(r"\1", tidied, count=1))._replace(unit=_name(currency[2] or currency[3]))
    degrees = _DEGREES.search(tidied)
    if degrees and not _TRIGONOMETRY.search(tidied):
        return Quantity(tidied[: degrees.start()], "deg")
    marked = _MARKED.search(tidied)
    if marked and _WORDY.match(marked[1]) and _FORMULA.search(tidied[: marked.start()]):
        return _scaled(tidied[: marked.start()].strip(), marked[1])
    plain = _PLAIN.search(tidied)
    if plain:
        known = _name(plain[2]) in _UNITS.values() and (len(plain[2]) > 1 or not variables)
        if known or (plain[1] and len(plain[2].split()[0]) > 2):
            return _scaled(tidied[: plain.start()].strip(), plain[2])
    return Quantity(tidied)


def _scaled(body: str, unit: str) -> Quantity:
    """`5 million dollars` is 5 \\cdot 10^6 of a unit."""
    first, _, rest = unit.strip().partition(" ")
    if first.lower() in _SCALES:
        return Quantity(f"{body}\\cdot 10^{{{_SCALES[first.lower()]}}}", _name(rest) if rest.strip() else None)
    return Quantity(body, _name(unit))


def clash(one: Quantity, other: Quantity) -> bool:
    """Whether both have a unit that is known, and not the same."""
    return one.known and other.known and one.unit != other.unit


def _name(unit: str) -> str:
    words = unit.replace("{", "").replace("}", "").replace(".", "").lower().split()
    power = ""
    if words and words[0] in ("square", "sq", "cubic"):
        power = "^3" if words[0] == "cubic" else "^2"
        words = words[1:]
    text = "".join(words)
    name, _, raised = text.partition("^") if not text.startswith("^") else (text, "", "")
    name = _UNITS.get(name) or _UNITS.get(name.removesuffix("s")) or name
    return name + (f"^{raised}" if raised else power)
