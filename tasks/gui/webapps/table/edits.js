/** Changes of a sheet: cells, rows and columns, order, filling, replacing. Each works on the state's draft. */

import { address, inRange, position, rewritten, shifted, used } from "./refs.js";
import { valueAt } from "./values.js";

/** Write a text into a cell; its format stays. */
export function write(sheet, place, raw) {
  setCell(sheet, place, { ...sheet.cells[place], raw });
}

/** Change how the cells of a range look. */
export function restyle(sheet, range, style) {
  for (const place of inRange(range)) setCell(sheet, place, { raw: "", ...sheet.cells[place], ...style });
}

/** Empty the cells of a range; their format stays. */
export function clear(sheet, range) {
  for (const place of inRange(range)) if (sheet.cells[place]) write(sheet, place, "");
}

function setCell(sheet, place, { raw, format, bold }) {
  const cell = { raw };
  if (format && format !== "general") cell.format = format;
  if (bold) cell.bold = true;
  if (raw === "" && Object.keys(cell).length === 1) delete sheet.cells[place];
  else sheet.cells[place] = cell;
}

/** Insert an empty row or column before `at`; `axis` is `row` or `column`. */
export function insert(sheet, axis, at) {
  relocate(sheet, axis, (index) => (index >= at ? index + 1 : index));
}

/** Delete the rows or columns from `first` to `last`. Ranges shrink; what referred to a deleted cell becomes #REF!. */
export function remove(sheet, axis, first, last) {
  const ends = { start: first, end: first - 1 };
  relocate(sheet, axis, (index, side) => {
    if (index < first) return index;
    return index > last ? index - (last - first + 1) : (ends[side] ?? null);
  });
}

function relocate(sheet, axis, move) {
  const moved = (place, _, side) => {
    const to = move(place[axis], side);
    return to === null || to < 0 ? null : { ...place, [axis]: to };
  };
  const cells = {};
  for (const [place, cell] of Object.entries(sheet.cells)) {
    const to = moved(position(place));
    if (to) cells[address(to.column, to.row)] = { ...cell, raw: rewritten(cell.raw, moved) };
  }
  sheet.cells = cells;
  if (sheet.filter && axis === "column") {
    const column = move(sheet.filter.column);
    sheet.filter = column === null ? null : { ...sheet.filter, column };
  }
}

/** Sort rows by a column: numbers before texts, empty cells last; formulas follow their row. */
export function sort(state, id, column, { top, bottom }, descending) {
  const sheet = state.sheets[id];
  const { columns } = used(sheet);
  const rows = [];
  for (let row = top; row <= bottom; row += 1) rows.push({ row, key: valueAt(state, id, address(column, row)) });
  rows.sort((a, b) => order(a.key, b.key, descending));
  const cells = { ...sheet.cells };
  rows.forEach(({ row }, at) => {
    for (let each = 0; each < columns; each += 1) {
      const cell = sheet.cells[address(each, row)];
      const to = address(each, top + at);
      if (cell) cells[to] = { ...cell, raw: shifted(cell.raw, 0, top + at - row) };
      else delete cells[to];
    }
  });
  sheet.cells = cells;
}

function order(one, other, descending) {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const sign = descending ? -1 : 1;
  if (typeof one === typeof other) return sign * (typeof one === "number" ? one - other : String(one).localeCompare(String(other)));
  return sign * (typeof one === "number" ? -1 : 1);
}

/** Copy the first row of a range into its other rows; references go along. */
export function fillDown(sheet, { left, top, right, bottom }) {
  for (let column = left; column <= right; column += 1) {
    const first = sheet.cells[address(column, top)];
    for (let row = top + 1; row <= bottom; row += 1) {
      const place = address(column, row);
      if (first) sheet.cells[place] = { ...first, raw: shifted(first.raw, 0, row - top) };
      else delete sheet.cells[place];
    }
  }
}

/** Replace a text in every cell; returns in how many. */
export function replaceAll(sheet, find, replacement, { matchCase, whole }) {
  const pattern = find.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const wanted = new RegExp(whole ? `^${pattern}$` : pattern, matchCase ? "g" : "gi");
  const places = Object.keys(sheet.cells).filter((place) => sheet.cells[place].raw.search(wanted) >= 0);
  for (const place of places) write(sheet, place, sheet.cells[place].raw.replace(wanted, () => replacement));
  return places.length;
}

/** The rows that are shown, from 0; the first is a heading and always is. */
export function visibleRows(state, id, count, shown) {
  const { filter } = state.sheets[id];
  const rows = Array.from({ length: count }, (_, row) => row);
  if (!filter) return rows;
  const { rows: last } = used(state.sheets[id]);
  const wanted = filter.text.toLowerCase();
  const fits = (row) => {
    const text = shown(state, id, address(filter.column, row)).toLowerCase();
    return filter.way === "equals" ? text === wanted : text.includes(wanted);
  };
  return rows.filter((row) => row === 0 || (row < last && fits(row)));
}
