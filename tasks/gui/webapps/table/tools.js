/** The bars above the grid: where one is, what the cell holds, and what can be done. */

import { h } from "/common/dom.js";
import { option } from "/common/forms.js";
import { link } from "/common/page.js";
import { fillDown, insert, remove, restyle, sort } from "./edits.js";
import { activate, activeAddress, begin, commit, place, selection, stop } from "./grid.js";
import { address, range, used } from "./refs.js";
import { FORMATS } from "./values.js";

/** The name of the selection, and the text of the active cell. */
export function formulaBar(context) {
  const marked = selection();
  const [first, last] = [address(marked.left, marked.top), address(marked.right, marked.bottom)];
  const raw = context.state.sheets[place.sheet].cells[activeAddress()]?.raw ?? "";
  const go = (event) => {
    const wanted = range(event.target.value.trim());
    if (!wanted) return context.say(`${event.target.value} is neither a cell nor a range, such as B3 or B3:C9.`);
    commit(context);
    activate({ column: wanted.right, row: wanted.bottom });
    activate({ column: wanted.left, row: wanted.top }, true);
    context.draw();
  };
  const cancel = (event) => {
    if (event.key !== "Escape") return;
    stop();
    context.draw();
  };
  return h(
    "div.formula",
    null,
    h("input", { id: "name", "aria-label": "Cell or range", autocomplete: "off", value: first === last ? first : `${first}:${last}`, onchange: go }),
    h("input", {
      id: "formula",
      "aria-label": "Formula",
      autocomplete: "off",
      value: place.text ?? raw,
      oninput: (event) => begin(event.target.value, false),
      onchange: () => commit(context),
      onkeydown: cancel,
    }),
  );
}

/** Buttons for the selection. */
export function toolbar(context) {
  const { state } = context;
  const marked = selection();
  const sheet = state.sheets[place.sheet];
  const { bold, format } = sheet.cells[activeAddress()] ?? {};
  const act = (edit) => () => {
    commit(context);
    context.change((draft) => edit(draft.sheets[place.sheet], draft));
  };
  const button = (text, edit, more) => h("button", { ...more, onclick: act(edit) }, text);
  const rows = marked.bottom > marked.top ? marked : { top: 1, bottom: used(sheet).rows - 1 };
  const reorder = (descending) => (_, draft) => sort(draft, place.sheet, place.active.column, rows, descending);
  const reformat = (event) => act((draft) => restyle(draft, marked, { format: event.target.value }))();
  const scope = marked.bottom > marked.top ? "the selected rows" : "all rows below the first";
  const panel = (name, text) => h("a.button", { href: link("sheet", place.sheet, name) }, text);
  return h(
    "div.tools",
    { role: "toolbar", "aria-label": "Sheet" },
    h("button", { disabled: !context.undoable, onclick: context.undo }, "Undo"),
    button("Bold", (draft) => restyle(draft, marked, { bold: !bold }), { "aria-pressed": String(Boolean(bold)) }),
    h("select", { id: "format", "aria-label": "Format", value: format ?? "general", onchange: reformat }, Object.entries(FORMATS).map(option)),
    button("Fill down", (draft) => fillDown(draft, marked)),
    button("Insert row", (draft) => insert(draft, "row", marked.top), { title: "Above the active cell" }),
    button("Delete rows", (draft) => remove(draft, "row", marked.top, marked.bottom)),
    button("Insert column", (draft) => insert(draft, "column", marked.left), { title: "Left of the active cell" }),
    button("Delete columns", (draft) => remove(draft, "column", marked.left, marked.right)),
    button("Sort A to Z", reorder(false), { title: `By this column: ${scope}` }),
    button("Sort Z to A", reorder(true), { title: `By this column: ${scope}` }),
    panel("filter", "Filter"),
    sheet.filter ? button("Clear filter", (draft) => void (draft.filter = null)) : null,
    panel("find", "Find and replace"),
    panel("csv", "CSV"),
  );
}
