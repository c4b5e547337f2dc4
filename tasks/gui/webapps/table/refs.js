/** Addresses of cells: `B3` is column 1, row 2, as both count from 0. A range is `{ left, top, right, bottom }`. */

/** `A` of 0, `AA` of 26. */
export function columnName(column) {
  const rest = Math.floor(column / 26);
  return (rest ? columnName(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

/** `B3` of column 1 and row 2. */
export function address(column, row) {
  return `${columnName(column)}${row + 1}`;
}

/** Column and row of `B3`, also of `$B$3`; null of what is no address. */
export function position(text) {
  const found = /^\$?([A-Z]{1,2})\$?([1-9]\d{0,3})$/i.exec(text);
  if (!found) return null;
  const column = [...found[1].toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return { column, row: Number(found[2]) - 1 };
}

/** The range of `B2:C5` or `B2`; null of what is none. */
export function range(text) {
  const [first, last] = text.split(":").map((part) => position(part.trim()));
  if (!first || last === null) return null;
  return around(first, last ?? first);
}

/** The range that two corners span. */
export function around(one, other) {
  return {
    left: Math.min(one.column, other.column),
    top: Math.min(one.row, other.row),
    right: Math.max(one.column, other.column),
    bottom: Math.max(one.row, other.row),
  };
}

/** The addresses in a range, row by row. */
export function inRange({ left, top, right, bottom }) {
  const found = [];
  for (let row = top; row <= bottom; row += 1) {
    for (let column = left; column <= right; column += 1) found.push(address(column, row));
  }
  return found;
}

/** How many columns and rows of a sheet are in use. */
export function used(sheet) {
  const places = Object.keys(sheet.cells).map(position);
  return {
    columns: Math.max(0, ...places.map(({ column }) => column + 1)),
    rows: Math.max(0, ...places.map(({ row }) => row + 1)),
  };
}

const ONE = "(\\$?)([A-Z]{1,2})(\\$?)([1-9]\\d{0,3})";
const REFERENCES = new RegExp(`"(?:[^"]|"")*"|(?<![A-Z$])${ONE}(?::${ONE})?(?![A-Z0-9(])`, "gi");

/**
 * A formula with each of its references, texts in it aside, replaced.
 *
 * @param change From `{ column, row }`, which of them are fixed by a `$`, and the side of a range (`start`, `end`, or
 *   undefined) to the new place; null where there is none any more.
 */
export function rewritten(raw, change) {
  if (!raw.startsWith("=")) return raw;
  const one = ([fixedColumn, letters, fixedRow, digits], side) => {
    const to = change(position(letters + digits), { column: Boolean(fixedColumn), row: Boolean(fixedRow) }, side);
    return to && `${fixedColumn}${columnName(to.column)}${fixedRow}${to.row + 1}`;
  };
  return raw.replace(REFERENCES, (whole, ...parts) => {
    if (whole.startsWith('"')) return whole;
    if (!parts[5]) return one(parts.slice(0, 4)) ?? "#REF!";
    const ends = [one(parts.slice(0, 4), "start"), one(parts.slice(4, 8), "end")];
    return ends.includes(null) ? "#REF!" : ends.join(":");
  });
}

/** A formula as it reads so many columns and rows further on; what has a `$` stays. */
export function shifted(raw, columns, rows) {
  return rewritten(raw, ({ column, row }, fixed) => {
    const to = { column: column + (fixed.column ? 0 : columns), row: row + (fixed.row ? 0 : rows) };
    return to.column < 0 || to.row < 0 ? null : to;
  });
}
