"""Carries out an agent's pyautogui code by walking its syntax tree; Python itself never runs it.

Of Python there are: `import` of pyautogui and time, variables, numbers, texts, f-strings, lists, tuples, arithmetic,
comparisons, `if`, `for`, `with pyautogui.hold(...)`, and the functions and methods of `values`. Everything else is an
error that says so. Steps, time and the size of every value are bounded. What the calls do: `gestures`.
"""

import ast
import operator
import time
import warnings
from collections.abc import Callable
from typing import Any

from claw_envs.gui.desktop.inside.arguments import CodeError
from claw_envs.gui.desktop.inside.gestures import CONSTANTS, TWEENS, Gestures, Holding, Input, Point, Size
from claw_envs.gui.desktop.inside.values import COMPARISONS, FUNCTIONS, bounded, formatted, guarded, method, operation

MOST_CODE = 20_000
"""Characters."""
MOST_STEPS = 20_000
_MODULES = ("pyautogui", "time")
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}


def carry_out(code: str, hands: Input, *, timeout: float, sleep: Callable[[float], None] = time.sleep) -> str | None:
    """Carry code out; what was wrong with it, in a sentence for the agent. What comes before that has been done.

    Args:
        hands: what its calls drive.
        timeout: seconds for all of it; a pause that would take longer is an error before it begins.
        sleep: waits for some seconds.
    """
    if len(code) > MOST_CODE:
        return f"the code has {len(code)} characters, more than {MOST_CODE}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's about an agent's code
            tree = ast.parse(code)
    except SyntaxError as error:
        return f"line {error.lineno or 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return "the code is nested too deeply, or holds a character that no code can hold"
    walker = _Walker(hands, timeout, sleep)
    try:
        walker.run(tree.body)
    except CodeError as error:
        return f"line {walker.line}: {error}"
    except RecursionError:
        return f"line {walker.line}: the code is nested too deeply"
    return None


class _Module:
    """A module as a value."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Function:
    """A function as a value: one of pyautogui's, or one of Python's own."""

    def __init__(self, name: str, *, own: bool) -> None:
        self.name, self.own = name, own


class _LoopError(CodeError):
    """`break` or `continue`, which only a loop understands."""

    def __init__(self, word: str) -> None:
        super().__init__(f"{word} stands outside of any loop")
        self.word = word


class _Walker:
    """Walks the tree of one piece of code."""

    def __init__(self, hands: Input, timeout: float, sleep: Callable[[float], None]) -> None:
        self._gestures = Gestures(hands, self._sleep)
        self._wait = sleep
        self._timeout, self._deadline = timeout, time.monotonic() + timeout
        self._steps = 0
        self._names: dict[str, Any] = {name: _Module(name) for name in _MODULES}
        self.line = 1

    def _sleep(self, seconds: float) -> None:
        if time.monotonic() + seconds > self._deadline:
            raise CodeError(f"there are {self._timeout:g} seconds for the code, and its pauses take longer")
        if seconds:
            self._wait(seconds)

    def _step(self, node: ast.AST) -> None:
        self.line = getattr(node, "lineno", self.line)
        self._steps += 1
        if self._steps > MOST_STEPS or time.monotonic() > self._deadline:
            raise CodeError("the code takes too long: write fewer and shorter loops")

    # --- statements -----------------------------------------------------------------------------------------------

    def run(self, body: list[ast.stmt]) -> None:
        """Carry statements out."""
        for statement in body:
            self._step(statement)
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=value):
                self._value(value)
            case ast.Assign(targets=targets, value=value):
                found = self._value(value)
                for target in targets:
                    self._assign(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value))
            case ast.AugAssign(target=ast.Name(id=name), op=sign, value=value):
                self._names[name] = operation(sign, self._name(name), self._value(value))
            case ast.If(test=test, body=body, orelse=orelse):
                self.run(body if self._value(test) else orelse)
            case ast.For():
                self._for(node)
            case ast.With(items=[ast.withitem(context_expr=holding, optional_vars=None)], body=body):
                self._with(self._value(holding), body)
            case ast.Import(names=imported):
                for one in imported:
                    self._names[one.asname or one.name] = self._module(one.name)
            case ast.ImportFrom(module=module, names=imported, level=0):
                for one in imported:
                    if one.name == "*":
                        raise CodeError("write import pyautogui, or name what you import")
                    self._names[one.asname or one.name] = self._member(self._module(module or ""), one.name)
            case ast.Break() | ast.Continue():
                raise _LoopError(type(node).__name__.lower())
            case ast.Pass():
                pass
            case _:
                raise CodeError(f"there is no {type(node).__name__} here: write calls, variables, if and for")

    def _for(self, node: ast.For) -> None:
        values = self._value(node.iter)
        if not isinstance(values, list | tuple | str):
            raise CodeError("for goes over a list, a text or a range")
        for value in list(values):
            self._step(node)
            self._assign(node.target, value)
            try:
                self.run(node.body)
            except _LoopError as error:
                if error.word == "break":
                    return
        self.run(node.orelse)

    def _with(self, holding: Any, body: list[ast.stmt]) -> None:
        if not isinstance(holding, Holding):
            raise CodeError("with takes one pyautogui.hold(...)")
        guarded(holding.__enter__)
        try:
            self.run(body)
        finally:
            holding.__exit__()

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self._names[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                if not isinstance(value, list | tuple) or len(value) != len(parts):
                    raise CodeError(f"{len(parts)} variables take as many values")
                for part, item in zip(parts, value, strict=True):
                    self._assign(part, item)
            case ast.Attribute(value=owner, attr=name) if isinstance(self._value(owner), _Module):
                if name not in self._gestures.settings:
                    raise CodeError(f"{name} cannot be set; {' and '.join(self._gestures.settings)} can")
                self._gestures.settings[name] = value
            case _:
                raise CodeError("only variables can be set, not parts of something")

    @staticmethod
    def _module(name: str) -> _Module:
        if name not in _MODULES:
            raise CodeError(f"only {' and '.join(_MODULES)} can be imported, not {name[:40]}")
        return _Module(name)

    # --- expressions ----------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Any:
        self._step(node)
        match node:
            case ast.Constant(value=value):
                return bounded(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(self._value(owner), name)
            case ast.Call():
                return self._call(node)
            case ast.List(elts=parts):
                return bounded(self._values(parts))
            case ast.Tuple(elts=parts):
                return bounded(tuple(self._values(parts)))
            case ast.BinOp(left=left, op=sign, right=right):
                return operation(sign, self._value(left), self._value(right))
            case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
                return guarded(_UNARY[type(sign)], self._value(operand))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test) else orelse)
            case ast.Subscript(value=owner, slice=place):
                return self._part(self._value(owner), place)
            case _:
                return self._text_or_truth(node)

    def _text_or_truth(self, node: ast.expr) -> Any:
        match node:
            case ast.JoinedStr(values=parts):
                return bounded("".join(map(str, self._values(parts))))
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                return formatted(self._value(value), "" if spec is None else self._value(spec), conversion)
            case ast.BoolOp(op=joint, values=parts):
                truth: Any = None
                for part in parts:
                    truth = self._value(part)
                    if bool(truth) is isinstance(joint, ast.Or):
                        break
                return truth
            case ast.Compare(left=first, ops=signs, comparators=others):
                left = self._value(first)
                for sign, other in zip(signs, others, strict=True):
                    right = self._value(other)
                    if not guarded(COMPARISONS[type(sign)], left, right):
                        return False
                    left = right
                return True
        raise CodeError(f"there is no {type(node).__name__} here: write calls, numbers, texts and lists")

    def _values(self, nodes: list[ast.expr]) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += guarded(list, self._value(node.value))
            else:
                values.append(self._value(node))
        return values

    def _name(self, name: str) -> Any:
        if name in self._names:
            return self._names[name]
        if name in FUNCTIONS:
            return _Function(name, own=False)
        raise CodeError(f"there is no {name[:40]!r} here")

    def _attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, _Module):
            return self._member(owner, name)
        if isinstance(owner, Point | Size) and name in owner._fields:
            return getattr(owner, name)
        raise CodeError(f"there is no .{name[:40]} here")

    def _member(self, module: _Module, name: str) -> Any:
        if module.name == "time":
            if name != "sleep":
                raise CodeError(f"of time there is only time.sleep, not time.{name[:40]}")
            return _Function("sleep", own=True)
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in self._gestures.settings:
            return self._gestures.settings[name]
        return name if name in TWEENS else _Function(name, own=True)

    def _part(self, owner: Any, place: ast.expr) -> Any:
        if not isinstance(owner, list | tuple | str):
            raise CodeError("only lists and texts have parts")
        if isinstance(place, ast.Slice):
            bounds = (place.lower, place.upper, place.step)
            return guarded(operator.getitem, owner, slice(*[part and self._value(part) for part in bounds]))
        return guarded(operator.getitem, owner, self._value(place))

    def _call(self, node: ast.Call) -> Any:
        args = self._values(node.args)
        named = {keyword.arg or "**": self._value(keyword.value) for keyword in node.keywords}
        if "**" in named:
            raise CodeError("arguments are written out; there is no ** here")
        if isinstance(node.func, ast.Attribute):
            owner = self._value(node.func.value)
            if not isinstance(owner, _Module):
                return method(owner, node.func.attr, args, named)
            function = self._member(owner, node.func.attr)
        else:
            function = self._value(node.func)
        if not isinstance(function, _Function):
            raise CodeError("this is nothing that can be called")
        if not function.own:
            return bounded(guarded(FUNCTIONS[function.name], *args, **named))
        try:
            return self._gestures.call(function.name, args, named)
        except ValueError as error:  # there is no such key
            raise CodeError(str(error)) from None
