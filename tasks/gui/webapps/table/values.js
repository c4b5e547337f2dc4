/** What cells hold and show: the value of what was typed, of every formula, and both as text. */

import { evaluate, Fault } from "./formula.js";

export const FORMATS = { general: "General", number: "Number", currency: "Currency", percent: "Percent" };
const NUMBER = /^[-−]?€?\s*\d{1,3}(?:,\d{3})*(?:\.\d+)?%?$|^[-−]?€?\s*\d*\.?\d+%?$/;

/** The value of a text that is no formula: a number where it reads as one. */
export function typed(raw) {
  if (raw === "") return null;
  if (!NUMBER.test(raw.trim())) return raw;
  const number = Number(raw.replaceAll(/[€,%\s]/g, "").replace("−", "-"));
  return raw.includes("%") ? number / 100 : number;
}

/** Reckon every formula of every sheet into `state.values`, where texts and faults stand as text. */
export function reckon(state) {
  state.values = {};
  for (const [id, sheet] of Object.entries(state.sheets)) {
    const known = new Map();
    const cell = (place) => {
      if (known.has(place)) return known.get(place);
      const raw = sheet.cells[place]?.raw ?? "";
      known.set(place, new Fault("#CYCLE!"));
      const value = raw.startsWith("=") ? evaluate(raw.slice(1), cell) : typed(raw);
      known.set(place, value);
      return value;
    };
    const formulas = Object.keys(sheet.cells).filter((place) => sheet.cells[place].raw.startsWith("="));
    state.values[id] = Object.fromEntries(formulas.map((place) => [place, plain(cell(place))]));
  }
}

function plain(value) {
  return value instanceof Fault ? value.code : (value ?? 0);
}

/** The value at an address, reckoned already. */
export function valueAt(state, id, place) {
  const cell = state.sheets[id].cells[place];
  if (!cell) return null;
  return cell.raw.startsWith("=") ? (state.values[id]?.[place] ?? null) : typed(cell.raw);
}

/** What a cell shows. */
export function shown(state, id, place) {
  const value = valueAt(state, id, place);
  if (value === null) return "";
  if (typeof value === "boolean") return String(value).toUpperCase();
  return typeof value === "number" ? formatted(value, state.sheets[id].cells[place].format) : value;
}

function formatted(value, format = "general") {
  const fixed = (number, digits) =>
    number.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  if (format === "number") return fixed(value, 2);
  if (format === "currency") return `${value < 0 ? "−" : ""}€${fixed(Math.abs(value), 2)}`;
  if (format === "percent") return `${fixed(value * 100, 1)}%`;
  return String(value);
}
