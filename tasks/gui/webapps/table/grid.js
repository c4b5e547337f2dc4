/** The grid: what it shows, which cell is active, how it is moved in and written into by keyboard and pointer. */

import { h } from "/common/dom.js";
import { clear, visibleRows, write } from "./edits.js";
import { address, around, columnName, position, used } from "./refs.js";
import { shown, valueAt } from "./values.js";

const LEAST = { columns: 8, rows: 18 };
const SPARE = { columns: 1, rows: 3 };
const MOVES = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** Where the user is: the active cell, the other corner of the selection, and the text that is being written. */
export const place = { sheet: "", active: { column: 0, row: 0 }, corner: { column: 0, row: 0 }, text: null, inCell: false };

/** The selected range. */
export function selection() {
  return around(place.active, place.corner);
}

/** The address of the active cell. */
export function activeAddress() {
  return address(place.active.column, place.active.row);
}

/** Make a cell active; `extend` keeps the other corner of the selection. */
export function activate(cell, extend = false) {
  place.active = { column: Math.max(0, cell.column), row: Math.max(0, cell.row) };
  if (!extend) place.corner = place.active;
}

/** Write what is being written into the active cell. */
export function commit(context) {
  const { text, sheet } = place;
  if (text === null) return;
  stop();
  const at = activeAddress();
  if (text !== (context.store.state.sheets[sheet].cells[at]?.raw ?? "")) {
    context.change((draft) => write(draft.sheets[sheet], at, text));
  }
}

/** Begin to write into the active cell. */
export function begin(text, inCell) {
  Object.assign(place, { text, inCell });
}

/** Forget what is being written. */
export function stop() {
  Object.assign(place, { text: null, inCell: false });
}

/** How many columns and rows are shown. */
export function extent(sheet) {
  const { columns, rows } = used(sheet);
  return { columns: Math.max(LEAST.columns, columns + SPARE.columns), rows: Math.max(LEAST.rows, rows + SPARE.rows) };
}

/** The grid as a table. */
export function grid(context) {
  const sheet = context.state.sheets[place.sheet];
  const { columns, rows } = extent(sheet);
  const visible = visibleRows(context.state, place.sheet, rows, shown);
  const marked = selection();
  const head = Array.from({ length: columns }, (_, column) =>
    h(column >= marked.left && column <= marked.right ? "th.marked" : "th", { scope: "col" }, columnName(column)),
  );
  const line = (row) =>
    h(
      "tr",
      null,
      h(row >= marked.top && row <= marked.bottom ? "th.marked" : "th", { scope: "row" }, String(row + 1)),
      Array.from({ length: columns }, (_, column) => cell(context, { column, row }, marked)),
    );
  const table = h(
    "table.grid",
    {
      role: "grid",
      "aria-label": sheet.name,
      onkeydown: (event) => key(context, event, visible),
      onpointerdown: (event) => press(context, event),
      ondblclick: (event) => edit(context, event),
    },
    h("thead", null, h("tr", null, h("td"), head)),
    h("tbody", null, visible.map(line)),
  );
  return h("div.scroll", null, table);
}

function cell(context, at, marked) {
  const name = address(at.column, at.row);
  const active = name === activeAddress();
  const { format, bold } = context.state.sheets[place.sheet].cells[name] ?? {};
  const text = shown(context.state, place.sheet, name);
  const inside = at.column >= marked.left && at.column <= marked.right && at.row >= marked.top && at.row <= marked.bottom;
  const node = h(
    "td",
    {
      id: `cell-${name}`,
      role: "gridcell",
      tabindex: active ? "0" : "-1",
      "aria-label": text ? `${name} ${text}` : name,
      "aria-selected": String(inside),
    },
    active && place.inCell ? editor(context, name) : text,
  );
  if (active) node.classList.add("active");
  if (inside) node.classList.add("inside");
  if (bold) node.classList.add("bold");
  if (format || typeof valueAt(context.state, place.sheet, name) === "number") node.classList.add("right");
  return node;
}

function editor(context, name) {
  return h("input", {
    id: "editor",
    "aria-label": `Edit ${name}`,
    autocomplete: "off",
    value: place.text,
    oninput: (event) => void (place.text = event.target.value),
    onchange: () => commit(context),
  });
}

function press(context, event) {
  const target = event.target.closest("[role=gridcell]");
  if (!target || event.target.id === "editor") return;
  commit(context);
  activate(position(target.id.slice(5)), event.shiftKey);
  context.focus(target.id);
}

function edit(context, event) {
  if (!event.target.closest("[role=gridcell]") || event.target.id === "editor") return;
  startWriting(context, null);
}

function startWriting(context, text) {
  const raw = context.state.sheets[place.sheet].cells[activeAddress()]?.raw ?? "";
  begin(text ?? raw, true);
  context.focus("editor");
}

function key(context, event, visible) {
  const writing = event.target.id === "editor";
  const step = (columns, rows) => {
    event.preventDefault();
    commit(context);
    const row = visible[Math.max(0, Math.min(visible.length - 1, visible.indexOf(place.active.row) + rows))];
    activate({ column: place.active.column + columns, row }, event.shiftKey && event.key.startsWith("Arrow"));
    context.focus(`cell-${activeAddress()}`);
  };
  if (event.key === "Enter") return step(0, event.shiftKey ? -1 : 1);
  if (event.key === "Tab") return step(event.shiftKey ? -1 : 1, 0);
  if (event.key === "Escape") {
    stop();
    return context.focus(`cell-${activeAddress()}`);
  }
  if (writing) return;
  if (event.key in MOVES) return step(...MOVES[event.key]);
  if (event.key === "Home") return step(-place.active.column, 0);
  if (event.key === "F2") return startWriting(context, null);
  if (event.key === "Delete" || event.key === "Backspace") {
    const range = selection();
    return context.change((draft) => clear(draft.sheets[place.sheet], range));
  }
  if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    startWriting(context, event.key);
  }
}
