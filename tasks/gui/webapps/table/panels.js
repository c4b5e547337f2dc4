/** Forms above the grid: filter, find and replace, CSV, and the sheet itself. */

import { h } from "/common/dom.js";
import { confirmed, field, form } from "/common/forms.js";
import { link } from "/common/page.js";
import { nextId } from "/common/store.js";
import { fromCsv, toCsv } from "./csv.js";
import { replaceAll } from "./edits.js";
import { extent, place } from "./grid.js";
import { columnName, position } from "./refs.js";
import { shown } from "./values.js";

const close = () => h("a.button", { href: link("sheet", place.sheet) }, "Close");

export function filter(context) {
  const { columns } = extent(context.state.sheets[place.sheet]);
  const heading = (column) => shown(context.state, place.sheet, `${columnName(column)}1`);
  const choices = Array.from({ length: columns }, (_, column) => [
    columnName(column),
    heading(column) ? `${columnName(column)} ${heading(column)}` : columnName(column),
  ]);
  const send = ({ column, way, text }) => {
    if (!text) return { text: "A text is missing." };
    const wanted = { column: position(`${column}1`).column, way, text };
    context.change((draft) => void (draft.sheets[place.sheet].filter = wanted));
    context.go(link("sheet", place.sheet), "Rows that do not fit are hidden.");
  };
  return form(
    { class: "card panel", "aria-label": "Filter" },
    send,
    field("Column", "column", { type: "select", choices }),
    field("Which", "way", { type: "select", choices: [["contains", "contains"], ["equals", "is exactly"]] }),
    field("Text", "text"),
    h("div.actions", null, h("button.primary", null, "Apply filter"), close()),
  );
}

export function find(context) {
  const send = ({ find: text, replacement, matchCase, whole }) => {
    if (!text) return { find: "A text is missing." };
    const replaced = context.change((draft) => replaceAll(draft.sheets[place.sheet], text, replacement, { matchCase, whole }));
    context.say(replaced === 1 ? "1 cell changed." : `${replaced} cells changed.`);
  };
  return form(
    { class: "card panel", "aria-label": "Find and replace" },
    send,
    field("Find", "find"),
    field("Replace with", "replacement"),
    field("Match case", "matchCase", { type: "checkbox" }),
    field("Whole cell", "whole", { type: "checkbox" }),
    h("div.actions", null, h("button.primary", null, "Replace all"), close()),
  );
}

export function csv(context) {
  const text = toCsv(context.state.sheets[place.sheet], (at) => shown(context.state, place.sheet, at));
  const send = ({ name, csv: given }) => {
    if (!name) return { name: "A name is missing." };
    if (!given) return { csv: "The text is missing." };
    const id = context.change((draft) => add(draft, name, fromCsv(given)));
    context.go(link("sheet", id), `Sheet ${name} is imported.`);
  };
  return h(
    "div.halves",
    null,
    h("div.card", null, h("h2", null, "Export"), h("textarea", { "aria-label": "This sheet as CSV", readonly: true, rows: 8, value: text })),
    form(
      { class: "card", "aria-label": "Import" },
      send,
      h("h2", null, "Import into a new sheet"),
      field("Name of the sheet", "name"),
      field("CSV text", "csv", { type: "textarea", rows: 5 }),
      h("div.actions", null, h("button.primary", null, "Import"), close()),
    ),
  );
}

export function sheet(context) {
  const { state } = context;
  const rename = ({ name }) => {
    if (!name) return { name: "A name is missing." };
    context.change((draft) => void (draft.sheets[place.sheet].name = name));
    context.go(link("sheet", place.sheet), "Renamed.");
  };
  const copy = () => {
    const { name, cells } = state.sheets[place.sheet];
    const id = context.change((draft) => add(draft, `${name} copy`, structuredClone(cells)));
    context.go(link("sheet", id), "Copied.");
  };
  const remove = () => {
    const gone = place.sheet;
    const other = Object.keys(state.sheets).find((id) => id !== gone);
    context.go(link("sheet", other), "Deleted.");
    context.change((draft) => void delete draft.sheets[gone]);
  };
  const { name } = state.sheets[place.sheet];
  const ask = () => confirmed(`Delete the sheet ${name}?`, "Yes, delete", remove);
  return form(
    { class: "card panel", "aria-label": "Sheet" },
    rename,
    field("Name", "name", { value: name }),
    h(
      "div.actions",
      null,
      h("button.primary", null, "Rename"),
      h("button", { type: "button", onclick: copy }, "Copy sheet"),
      Object.keys(state.sheets).length > 1 ? h("button.danger", { type: "button", onclick: ask }, "Delete sheet") : null,
      close(),
    ),
  );
}

/** Add a sheet; returns its id. */
export function add(draft, name, cells) {
  const id = nextId(draft.sheets, "s");
  draft.sheets[id] = { name, cells, filter: null };
  return id;
}
