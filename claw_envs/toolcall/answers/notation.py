r"""One spelling for mathematical text: Unicode, plain text and the many ways of LaTeX become one subset of LaTeX.

`tidy` rewrites, `key` is what two identical answers share, `number` reads what is plainly a number. All are linear but
for what a cap on the length bounds; none evaluates anything.
"""

import re
import unicodedata
from fractions import Fraction

WORDS = "\ue001"
"""Stands before text that was in `\\text{...}`."""
DOLLAR = "\ue000"
"""A `\\$`: a currency and not a delimiter."""

_SYMBOLS = {
    "−–—‐‑﹣": "-",
    "×✕": r"\times ",
    "·⋅∙•": r"\cdot ",
    "÷⁄∕": "/",
    "√": " sqrt",
    "∞": r"\infty ",
    "≤⩽": r"\le ",
    "≥⩾": r"\ge ",
    "≠": r"\ne ",
    "≈": r"\approx ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    "∅": r"\emptyset ",
    "±": r"\pm ",
    "∓": r"\mp ",
    "°": r"^\circ ",
    "π": r"\pi ",
    "α": r"\alpha ",
    "β": r"\beta ",
    "γ": r"\gamma ",
    "θ": r"\theta ",
    "λ": r"\lambda ",
    "μ": r"\mu ",
    "φ": r"\phi ",
    "ω": r"\omega ",
    "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}",
}
_TRANSLATE = str.maketrans(
    {character: latex for characters, latex in _SYMBOLS.items() for character in characters}
    | dict.fromkeys(WORDS + DOLLAR, "")
    | {c: f"\\frac{{{f.numerator}}}{{{f.denominator}}}" for c in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
       for f in [Fraction(unicodedata.numeric(c)).limit_denominator(9)]}
)  # fmt: skip
_SUPERSCRIPTS, _SUBSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "₀₁₂₃₄₅₆₇₈₉₊₋"
_RAISED = re.compile(f"[{_SUPERSCRIPTS}]+|[{_SUBSCRIPTS}]+")

_REWRITES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:boxed|fbox)(?![a-zA-Z])", ""),
        (r"\$", ""),
        (r"(?<!\\)\\[()\[\]]", ""),
        (r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits|bf|rm|it)(?![a-zA-Z])\.?", ""),
        (r"(?<=\d)(?:\\[,!;: ]|~|\{,\}\s?|,\\!)+(?=\d{3}(?!\d))", ","),
        (r"(?<!\\)\\[,!;:> ]|~|\\q?quad(?![a-zA-Z])|\\(?:hspace|vspace|phantom)\{[^{}]*\}", " "),
        (r"\\(?:text|mathrm|textbf|textrm|textit|textsf|textnormal|mathbf|mathit|mbox|operatorname\*?)\s*\{([^{}]*)\}",
         f" {WORDS}\\1 "),
        (rf"{WORDS}\s*(?:and|or)\b|,?\s(?:and|or)\s", ", "),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\\(le|ge)q(?:slant)?(?![a-zA-Z])", r"\\\1 "),
        (r"\\neq(?![a-zA-Z])", r"\\ne "),
        (r"<=", r"\\le "),
        (r">=", r"\\ge "),
        (r"!=", r"\\ne "),
        (r"\\(?:lt|lbrace|lbrack|lparen)(?![a-zA-Z])",
         lambda m: {"t": "<", "e": r"\{", "k": "[", "n": "("}[m[0][-1]]),
        (r"\\(?:gt|rbrace|rbrack|rparen)(?![a-zA-Z])",
         lambda m: {"t": ">", "e": r"\}", "k": "]", "n": ")"}[m[0][-1]]),
        (r"\\(?:varnothing|O)(?![a-zA-Z])", r"\\emptyset "),
        (r"\\(?:degree|circ)(?![a-zA-Z])|\\textdegree", r"\\circ "),
        (r"(?<!\^)(?<!\{)\\circ |\^\s?\{\s?\\circ\s*\}", r"^\\circ "),
        (r"\\%|\b(?:percent|pct)\b", "%"),
        (r"(?<![a-zA-Z\\])(?:infinity|inf|oo)(?![a-zA-Z])", r"\\infty "),
        (r"(?<![a-zA-Z\\])(sqrt|arcsin|arccos|arctan|sin|cos|tan|cot|sec|csc|log|ln|exp|pi|theta)(?![a-zA-Z])",
         r"\\\1 "),
        (r"\*\*", "^"),
        (r"\*", r"\\cdot "),
        (r"\\frac ?([0-9a-z]) ?([0-9a-z])(?![a-z])", r"\\frac{\1}{\2}"),
        (r"\\frac ?([0-9])(?= ?\{)", r"\\frac{\1}"),
        (r"(\\frac\{[^{}]*\}) ?([0-9a-z])", r"\1{\2}"),
        (r"\\sqrt ?([0-9a-zA-Z])", r"\\sqrt{\1}"),
        (r"([\^_]) ?(-?\d+(?:\.\d+)?)(?![.\d])", r"\1{\2}"),
        (r"([\^_])\s?\{\s?([^\s{}])\s?\}", r"\1{\2}"),
        (r"([\^_])([a-zA-Z])", r"\1{\2}"),
        (rf"(?<=[a-z])\s*/\s*{WORDS}\s*", "/"),
        (r"^\s*\\approx(?![a-z])|(?<=.)\\approx(?![a-z]).*$", ""),
        (r"\s+", " "),
    )
]  # fmt: skip
_OPEN = re.compile(r"(\\sqrt|\^) ?\(")
_SPACE = re.compile(r"(?<![0-9a-zA-Z]) | (?![0-9a-zA-Z])")
_ENDS = " .;:,。"

_DECIMAL = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+"
_NUMBER = re.compile(
    rf"(?P<sign>[-+]?)(?:(?P<whole>\d+)?\\frac\{{(?P<over>-?(?:{_DECIMAL}))\}}\{{(?P<under>-?(?:{_DECIMAL}))\}}"
    rf"|(?P<mixed>\d+) (?P<a>\d+)/(?P<b>\d+)"
    rf"|(?P<value>{_DECIMAL})(?:[eE](?P<e>[-+]?\d+)|\\(?:times|cdot)\s?10\^\{{(?P<power>-?\d+)\}}|/(?P<by>-?(?:{_DECIMAL})))?)"
)
_REPEATING = re.compile(r"(?<!\d)(\d*)\.(\d*)\\(?:overline|bar|dot)\{(\d+)\}")
_MAX_DIGITS = 1000


def tidy(text: str) -> str:
    """`text` in one spelling, for `key`, `number` and the parser."""
    text = _RAISED.sub(_on_the_line, text).translate(_TRANSLATE)
    text = unicodedata.normalize("NFKC", text).replace("\\$", DOLLAR)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    text = _braced(text)
    text = _REPEATING.sub(_repeating, text).strip().rstrip(_ENDS)
    while text.startswith("{") and text.endswith("}") and "{" not in text[1:-1] and "}" not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def key(tidied: str) -> str:
    """What two spellings of the same answer share; spaces count only between letters and digits."""
    return _SPACE.sub("", tidied.replace(WORDS, "")).strip()


def number(tidied: str) -> Fraction | None:
    """The value of an integer, decimal, fraction, mixed number or power of ten; None of anything else."""
    found = _NUMBER.fullmatch(key(tidied)) if len(tidied) <= _MAX_DIGITS else None
    if not found:
        return None
    try:
        value = _value(found)
    except ZeroDivisionError:
        return None
    return -value if found["sign"] == "-" and value is not None else value


def _value(found: re.Match[str]) -> Fraction | None:
    if found["over"]:
        return Fraction(found["whole"] or 0) + _decimal(found["over"]) / _decimal(found["under"])
    if found["mixed"]:
        return Fraction(found["mixed"]) + Fraction(int(found["a"]), int(found["b"]))
    value = _decimal(found["value"])
    if found["by"]:
        return value / _decimal(found["by"])
    exponent = int(found["e"] or found["power"] or 0)
    return value * Fraction(10) ** exponent if abs(exponent) <= _MAX_DIGITS else None


def _decimal(digits: str) -> Fraction:
    return Fraction(digits.replace(",", "").removesuffix("."))


def _on_the_line(raised: re.Match[str]) -> str:
    row = _SUPERSCRIPTS if raised[0][0] in _SUPERSCRIPTS else _SUBSCRIPTS
    plain = "".join("0123456789+-n"[row.index(character)] for character in raised[0])
    return f"{'^' if row is _SUPERSCRIPTS else '_'}{{{plain}}}"


def _repeating(found: re.Match[str]) -> str:
    """0.1(6) = (16 - 1) / 90."""
    whole, fixed, period = found.groups()
    if len(found[0]) > _MAX_DIGITS:
        return found[0]
    over = int(whole + fixed + period) - int(whole + fixed or 0)
    value = Fraction(over, (10 ** len(period) - 1) * 10 ** len(fixed))
    return f"\\frac{{{value.numerator}}}{{{value.denominator}}}"


def _braced(text: str) -> str:
    r"""`sqrt(x+1)` and `2^(n+1)` with braces, which are what LaTeX groups by."""
    opens = {found.end() - 1 for found in _OPEN.finditer(text)}
    if not opens:
        return text
    characters, stack = list(text), []
    for place, character in enumerate(text):
        if character == "(":
            stack.append(place)
        elif character == ")" and stack:
            start = stack.pop()
            if start in opens:
                characters[start], characters[place] = "{", "}"
    return "".join(characters)
