/** Lists of messages: of a folder, of a label, of a search; with what can be done to several at once. */

import { h } from "/common/dom.js";
import { confirmed, option } from "/common/forms.js";
import { link } from "/common/page.js";
import { FOLDERS, inFolder, labelled, move, nameOf, restore, searched, when } from "./model.js";

const selected = new Set();
let shownAt = "";

export function folder(context) {
  const name = context.path[1] ?? "inbox";
  return listing(context, FOLDERS[name] ?? "No such folder", inFolder(context.state, name), name);
}

export function label(context) {
  const name = context.path[1];
  return listing(context, `Label ${context.state.labels[name]?.name}`, labelled(context.state, name), "");
}

export function search(context) {
  const { q = "" } = context.query;
  return listing(context, `Results for “${q}”`, searched(context.state, q), "");
}

function listing(context, title, messages, place) {
  if (shownAt !== location.hash) selected.clear();
  shownAt = location.hash;
  for (const id of selected) if (!messages.some((message) => message.id === id)) selected.delete(id);
  const count = messages.length === 1 ? "1 message" : `${messages.length} messages`;
  return {
    title,
    body: [
      h("h1", null, title, " ", h("span.quiet.small", null, count)),
      toolbar(context, messages, place),
      messages.length
        ? h("table.list.messages", { "aria-label": "Messages" }, h("tbody", null, messages.map((each) => row(context, each, place))))
        : h("p.quiet", null, "Nothing here."),
    ],
  };
}

function row({ store, state, draw }, message, place) {
  const { id, subject, folder: where, from, to, labels, read, starred, date, body } = message;
  const outgoing = where === "sent" || where === "drafts";
  const who = outgoing ? `To: ${to.map((email) => nameOf(state, email)).join(", ")}` : from.name;
  const address = where === "drafts" ? link("compose", { draft: id }) : link("message", id);
  const pick = (event) => {
    if (event.target.checked) selected.add(id);
    else selected.delete(id);
    draw();
  };
  const star = () => store.change((draft) => void (draft.messages[id].starred = !starred));
  return h(
    read ? "tr" : "tr.unread",
    { "aria-label": `${read ? "" : "Unread: "}${who}: ${subject}` },
    h("td", null, h("input", { id: `pick-${id}`, type: "checkbox", "aria-label": `Select ${subject}`, checked: selected.has(id), onchange: pick })),
    h("td", null, h("button.plain.star", { id: `star-${id}`, "aria-pressed": String(starred), "aria-label": `Star ${subject}`, onclick: star }, starred ? "★" : "☆")),
    h("td.who", null, who),
    h(
      "td.what",
      null,
      place ? null : h("span.tag", null, FOLDERS[where]),
      labels.map((name) => tag(state, name)),
      h("a", { href: address }, subject || "(no subject)"),
      h("span.quiet", { "aria-hidden": "true" }, ` – ${body.replace(/\s+/g, " ")}`),
    ),
    h("td.when", null, when(state, date)),
  );
}

/** A label as a coloured tag. */
export function tag(state, name) {
  const { name: text, colour } = state.labels[name];
  const shown = h("span.tag", null, text);
  shown.style.color = colour;
  shown.style.background = `${colour}1c`;
  return shown;
}

function toolbar(context, messages, place) {
  const { store, state, say, draw } = context;
  const all = messages.length > 0 && selected.size === messages.length;
  const none = selected.size === 0;
  const pickAll = (event) => {
    selected.clear();
    if (event.target.checked) for (const { id } of messages) selected.add(id);
    draw();
  };
  const act = (text, edit) => () => {
    const ids = [...selected];
    selected.clear();
    store.change((draft) => ids.forEach((id) => edit(draft, id)));
    say(`${ids.length === 1 ? "1 message" : `${ids.length} messages`} ${text}.`);
  };
  const button = (text, run) => h("button", { disabled: none, onclick: run }, text);
  return h(
    "div.actions",
    { role: "toolbar", "aria-label": "Selected messages" },
    h("label.all", null, h("input", { id: "pick-all", type: "checkbox", checked: all, onchange: pickAll }), "Select all"),
    place === "trash"
      ? [button("Restore", act("restored", restore)), button("Delete forever", forever(selected.size, act("deleted forever", erase)))]
      : button("Delete", act("moved to the trash", (draft, id) => move(draft, id, "trash"))),
    place === "spam" ? button("Not spam", act("moved to the inbox", (draft, id) => move(draft, id, "inbox"))) : null,
    place === "archive" || place === "trash" ? null : button("Archive", act("archived", (draft, id) => move(draft, id, "archive"))),
    button("Mark as read", act("marked as read", (draft, id) => void (draft.messages[id].read = true))),
    button("Mark as unread", act("marked as unread", (draft, id) => void (draft.messages[id].read = false))),
    picker("Move to", none, Object.entries(FOLDERS).filter(([id]) => id !== "drafts" && id !== "sent"), (to) =>
      act(`moved to ${FOLDERS[to]}`, (draft, id) => move(draft, id, to))(),
    ),
    picker("Add label", none, Object.entries(state.labels).map(([id, { name }]) => [id, name]), (name) =>
      act(`labelled ${state.labels[name].name}`, (draft, id) => addLabel(draft, id, name))(),
    ),
  );
}

function forever(count, run) {
  return () => confirmed(`Delete ${count === 1 ? "1 message" : `${count} messages`} forever?`, "Yes, delete", run);
}

function erase(draft, id) {
  delete draft.messages[id];
}

function addLabel(draft, id, name) {
  const { labels } = draft.messages[id];
  if (!labels.includes(name)) labels.push(name);
}

/** A list of which choosing one does something at once. */
export function picker(text, disabled, choices, choose) {
  const change = (event) => event.target.value && choose(event.target.value);
  return h("select.picker", { "aria-label": text, disabled, onchange: change }, [["", text], ...choices].map(option));
}
