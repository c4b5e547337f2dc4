/** Gridwork, tables that reckon. */

import { h } from "/common/dom.js";
import { link, run } from "/common/page.js";
import { activate, activeAddress, commit, grid, place, stop } from "./grid.js";
import { add, csv, filter, find, sheet as settings } from "./panels.js";
import { formulaBar, toolbar } from "./tools.js";
import { reckon } from "./values.js";

const PANELS = { filter, find, csv, settings };
const undone = [];
let focused;

function sheet(base) {
  const context = { ...base, change, undo, focus, undoable: undone.length > 0 };
  const id = base.path[1] in base.state.sheets ? base.path[1] : Object.keys(base.state.sheets)[0];
  if (place.sheet !== id) open(context, id);

  /** Change the state, so that it can be undone; the keyboard's focus goes to the active cell. */
  function change(edit) {
    undone.push(structuredClone(base.store.state.sheets));
    focused ??= `cell-${activeAddress()}`;
    return base.store.change(edit);
  }

  function undo() {
    const before = undone.pop();
    base.store.change((draft) => void (draft.sheets = structuredClone(before)));
  }

  /** Draw again, with the keyboard's focus on an element. */
  function focus(element) {
    focused = element;
    base.draw();
  }

  const panel = PANELS[base.path[2]];
  const wanted = focused;
  focused = undefined;
  return {
    title: base.state.sheets[id].name,
    focus: wanted,
    body: [toolbar(context), formulaBar(context), panel ? panel(context) : null, grid(context), tabs(context)].filter(Boolean),
  };
}

function open(context, id) {
  if (place.sheet in context.state.sheets) commit(context);
  stop();
  place.sheet = id;
  activate({ column: 0, row: 0 });
  focused ??= `cell-${activeAddress()}`;
}

function tabs(context) {
  const create = () => {
    commit(context);
    const count = Object.keys(context.state.sheets).length + 1;
    const id = context.change((draft) => add(draft, `Sheet ${count}`, {}));
    context.go(link("sheet", id));
  };
  const tab = ([id, { name }]) =>
    h("a.tab", { href: link("sheet", id), "aria-current": id === place.sheet ? "page" : null }, name);
  return h(
    "nav.tabs",
    { "aria-label": "Sheets" },
    Object.entries(context.state.sheets).map(tab),
    h("button", { onclick: create }, "Add sheet"),
    h("a", { href: link("sheet", place.sheet, "settings") }, "Rename or delete sheet"),
  );
}

function frame({ state }, body) {
  return [h("header.top", null, h("span.brand", null, "Gridwork"), h("span.quiet", null, state.title)), h("main", null, body)];
}

await run({ name: "Gridwork", pages: { sheet }, frame, derive: reckon });
