/**
 * Formulas: numbers, texts, references, ranges, `+ - * / ^ & %`, comparisons and functions.
 *
 * A value is a number, a text, a boolean, null for an empty cell, or a `Fault`, which every operation hands on.
 */

import { inRange, range } from "./refs.js";

/** What a cell shows that has no value, such as `#DIV/0!`. */
export class Fault {
  constructor(code) {
    this.code = code;
  }
}

/** In a range; a larger one has no value. */
const MOST_CELLS = 50_000;

const TOKEN = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|"((?:[^"]|"")*)"|(\$?[A-Z]{1,2}\$?[1-9]\d{0,3}(?::\$?[A-Z]{1,2}\$?[1-9]\d{0,3})?)(?![A-Z0-9(])|([A-Z]+)|(<=|>=|<>|[-+*\/^&%=<>(),;]))/iy;

/** The value of a formula without its `=`; `cell` gives the value at an address. */
export function evaluate(text, cell) {
  const tokens = tokenise(text);
  if (tokens instanceof Fault) return tokens;
  const parser = new Parser(tokens, cell);
  const value = parser.comparison();
  return parser.failed || parser.left ? new Fault("#ERROR!") : single(value);
}

function tokenise(text) {
  if (text.includes("#REF!")) return new Fault("#REF!");
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const found = TOKEN.exec(text);
    if (!found) return new Fault("#ERROR!");
    const [, number, quoted, reference, word, sign] = found;
    if (number !== undefined) tokens.push({ kind: "number", value: Number(number) });
    else if (quoted !== undefined) tokens.push({ kind: "text", value: quoted.replaceAll('""', '"') });
    else if (reference !== undefined) tokens.push({ kind: "reference", value: reference });
    else if (word !== undefined) tokens.push({ kind: "word", value: word.toUpperCase() });
    else tokens.push({ kind: "sign", value: sign });
  }
  return tokens;
}

class Parser {
  failed = false;
  #at = 0;

  constructor(tokens, cell) {
    this.tokens = tokens;
    this.cell = cell;
  }

  get left() {
    return this.#at < this.tokens.length;
  }

  #sign(...wanted) {
    const token = this.tokens[this.#at];
    if (token?.kind !== "sign" || !wanted.includes(token.value)) return null;
    this.#at += 1;
    return token.value;
  }

  #chain(next, signs, combine) {
    let value = next();
    for (let sign = this.#sign(...signs); sign; sign = this.#sign(...signs)) value = combine(sign, value, next());
    return value;
  }

  comparison() {
    return this.#chain(() => this.#joined(), ["=", "<>", "<", ">", "<=", ">="], compare);
  }

  #joined() {
    return this.#chain(() => this.#sum(), ["&"], (_, one, other) => faultIn(one, other) ?? text(one) + text(other));
  }

  #sum() {
    return this.#chain(() => this.#product(), ["+", "-"], arithmetic);
  }

  #product() {
    return this.#chain(() => this.#signed(), ["*", "/"], arithmetic);
  }

  #signed() {
    const sign = this.#sign("-", "+");
    if (!sign) return this.#chain(() => this.#percent(), ["^"], arithmetic);
    const value = this.#signed();
    return sign === "-" ? arithmetic("-", 0, value) : value;
  }

  #percent() {
    let value = this.#primary();
    while (this.#sign("%")) value = arithmetic("/", value, 100);
    return value;
  }

  #primary() {
    const token = this.tokens[this.#at];
    this.#at += 1;
    if (token?.kind === "number" || token?.kind === "text") return token.value;
    if (token?.kind === "reference") return this.#reference(token.value);
    if (token?.kind === "word") return this.#named(token.value);
    if (token?.value === "(") {
      const value = this.comparison();
      if (this.#sign(")")) return value;
    }
    this.failed = true;
    return new Fault("#ERROR!");
  }

  #reference(name) {
    const { left, top, right, bottom } = range(name);
    if ((right - left + 1) * (bottom - top + 1) > MOST_CELLS) return new Fault("#REF!");
    const values = inRange({ left, top, right, bottom }).map((place) => this.cell(place));
    return name.includes(":") ? values : values[0];
  }

  #named(name) {
    if (name === "TRUE" || name === "FALSE") return name === "TRUE";
    if (!this.#sign("(")) return new Fault("#NAME?");
    const given = [];
    if (!this.#sign(")")) {
      do given.push(this.comparison());
      while (this.#sign(",", ";"));
      if (!this.#sign(")")) this.failed = true;
    }
    const run = FUNCTIONS[name];
    return run ? run(...given) : new Fault("#NAME?");
  }
}

function single(value) {
  const one = Array.isArray(value) ? (value.length === 1 ? value[0] : new Fault("#VALUE!")) : value;
  return typeof one === "number" ? Number(one.toPrecision(12)) : one;
}

function faultIn(...values) {
  return values.flat().find((value) => value instanceof Fault);
}

function text(value) {
  return value === null ? "" : String(value);
}

function arithmetic(sign, one, other) {
  const [a, b] = [single(one), single(other)];
  const fault = faultIn(a, b);
  if (fault) return fault;
  if ([a, b].some((value) => typeof value === "string")) return new Fault("#VALUE!");
  const [x, y] = [Number(a), Number(b)];
  if (sign === "+") return x + y;
  if (sign === "-") return x - y;
  if (sign === "*") return x * y;
  if (sign === "^") return x ** y;
  return y === 0 ? new Fault("#DIV/0!") : x / y;
}

function compare(sign, one, other) {
  const [a, b] = [single(one), single(other)].map((value) => (typeof value === "string" ? value.toLowerCase() : value));
  const fault = faultIn(a, b);
  if (fault) return fault;
  const [x, y] = typeof a === typeof b ? [a, b] : [text(a), text(b)];
  return { "=": x === y, "<>": x !== y, "<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y }[sign];
}

function numbers(values) {
  return values.flat().filter((value) => typeof value === "number");
}

function folded(run) {
  return (...given) => faultIn(...given) ?? run(numbers(given));
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function criterion(wanted) {
  const [, sign, rest] = /^(<=|>=|<>|[<>=])?(.*)$/s.exec(text(wanted));
  const value = rest !== "" && !Number.isNaN(Number(rest)) ? Number(rest) : rest;
  return (found) => found !== null && compare(sign ?? "=", found, value) === true;
}

function sumIf(tested, wanted, summed = tested) {
  const fits = criterion(wanted);
  return sum([tested].flat().map((value, at) => (fits(value) ? numbers([[summed].flat()[at]])[0] ?? 0 : 0)));
}

const FUNCTIONS = {
  SUM: folded(sum),
  AVERAGE: folded((values) => (values.length ? sum(values) / values.length : new Fault("#DIV/0!"))),
  MIN: folded((values) => (values.length ? Math.min(...values) : 0)),
  MAX: folded((values) => (values.length ? Math.max(...values) : 0)),
  COUNT: (...given) => numbers(given).length,
  COUNTA: (...given) => given.flat().filter((value) => value !== null).length,
  COUNTIF: (tested, wanted) => [tested].flat().filter(criterion(wanted)).length,
  SUMIF: sumIf,
  IF: (condition, yes = true, no = false) => (condition instanceof Fault ? condition : condition ? yes : no),
  ABS: folded(([value = 0]) => Math.abs(value)),
  ROUND: folded(([value = 0, digits = 0]) => Math.round(value * 10 ** digits) / 10 ** digits),
};
