/** Daybook, a calendar. */

import { h } from "/common/dom.js";
import { form } from "/common/forms.js";
import { link, run } from "/common/page.js";
import { create, event } from "./event.js";
import { invitations } from "./model.js";
import { day, invitationList, month, search } from "./views.js";
import { week } from "./week.js";

const pages = { month, week, day, event, new: create, invitations: invitationList, search };

function frame({ store, state, path, query, go }, body) {
  const here = path[0] ?? "month";
  const entry = (target, text) => h("a", { href: link(target), "aria-current": here === target ? "page" : null }, text);
  const toggle = (id) => (change) => {
    const { checked } = change.target;
    store.change((draft) => void (draft.calendars[id].shown = checked));
  };
  const calendars = Object.entries(state.calendars).map(([id, { name, colour, shown }]) => {
    const dot = h("span.dot", { "aria-hidden": "true" });
    dot.style.background = colour;
    return h("label.radio", null, h("input", { id: `show-${id}`, type: "checkbox", checked: shown, onchange: toggle(id) }), dot, name);
  });
  return [
    h(
      "header.top",
      null,
      h("a.brand", { href: "#/" }, "Daybook"),
      h("nav", { "aria-label": "Views" }, entry("month", "Month"), entry("week", "Week"), entry("day", "Day"), entry("invitations", `Invitations (${invitations(state).length})`)),
      h("fieldset.calendars", { "aria-label": "Calendars" }, calendars),
      form(
        { role: "search" },
        ({ q }) => go(link("search", { q })),
        h("input", { id: "find", name: "q", type: "search", "aria-label": "Search events", placeholder: "Search events", value: query.q ?? "" }),
        h("button", null, "Search"),
      ),
    ),
    h("main", null, body),
  ];
}

await run({ name: "Daybook", pages, frame });
