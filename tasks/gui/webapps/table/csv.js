/** Sheets as text with commas, and back. */

import { address, used } from "./refs.js";

/** A sheet as CSV: what its cells show. */
export function toCsv(sheet, shown) {
  const { columns, rows } = used(sheet);
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const line = (row) => Array.from({ length: columns }, (_, column) => quoted(shown(address(column, row)))).join(",");
  return Array.from({ length: rows }, (_, row) => line(row)).join("\n");
}

/** The cells that a CSV text fills. */
export function fromCsv(text) {
  const cells = {};
  const field = /("(?:[^"]|"")*"|[^,\n]*)(,|\r?\n|$)/g;
  let [column, row] = [0, 0];
  for (const [, value, end] of text.trim().matchAll(field)) {
    const raw = value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value.trim();
    if (raw) cells[address(column, row)] = { raw };
    if (end === "") break;
    [column, row] = end === "," ? [column + 1, row] : [0, row + 1];
  }
  return cells;
}
