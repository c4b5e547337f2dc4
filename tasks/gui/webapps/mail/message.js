/** One message, and what can be done with it. */

import { longDate, weekday } from "/common/dates.js";
import { h } from "/common/dom.js";
import { confirmed } from "/common/forms.js";
import { link } from "/common/page.js";
import { picker, tag } from "./listing.js";
import { FOLDERS, move, nameOf, restore } from "./model.js";

export function message(context) {
  const { store, state, path } = context;
  const id = path[1];
  const shown = state.messages[id];
  if (!shown) return { title: "No such message", body: h("h1", null, "There is no such message") };
  if (!shown.read) queueMicrotask(() => store.change((draft) => void (draft.messages[id].read = true)));
  const earlier = shown.answers && state.messages[shown.answers];
  return {
    title: shown.subject,
    body: [
      h("nav.crumbs", { "aria-label": "Breadcrumb" }, h("a", { href: link("folder", shown.folder) }, FOLDERS[shown.folder])),
      h("h1", null, shown.subject, " ", shown.labels.map((name) => labelTag(context, id, name))),
      tools(context, id, shown),
      h(
        "article.card",
        { "aria-label": "Message" },
        h("p", null, h("strong", null, shown.from.name), h("span.quiet", null, ` <${shown.from.email}>`)),
        h("p.quiet", null, `To: ${people(state, shown.to)}${shown.cc.length ? ` · Cc: ${people(state, shown.cc)}` : ""}`),
        h("p.quiet", null, `${weekday(shown.date)}, ${longDate(shown.date)}, ${shown.date.slice(11)}`),
        h("div.body", null, shown.body),
      ),
      earlier ? h("p", null, "In answer to ", h("a", { href: link("message", shown.answers) }, earlier.subject)) : null,
    ],
  };
}

function people(state, emails) {
  return emails.map((email) => nameOf(state, email)).join(", ");
}

function labelTag({ store, state }, id, name) {
  const drop = () =>
    store.change((draft) => {
      const { labels } = draft.messages[id];
      labels.splice(labels.indexOf(name), 1);
    });
  const text = `Remove label ${state.labels[name].name}`;
  return h("span", null, tag(state, name), h("button.plain", { "aria-label": text, title: text, onclick: drop }, "×"));
}

function tools({ store, state, go, say }, id, shown) {
  const moved = (to) => () => {
    const from = shown.folder;
    store.change((draft) => move(draft, id, to));
    go(link("folder", from), `Moved to ${FOLDERS[to]}.`);
  };
  const back = () => {
    const to = shown.was ?? "inbox";
    store.change((draft) => restore(draft, id));
    say(`Restored to ${FOLDERS[to]}.`);
  };
  const erase = () => {
    go(link("folder", "trash"), "Deleted forever.");
    store.change((draft) => void delete draft.messages[id]);
  };
  const unread = () => {
    go(link("folder", shown.folder), "Marked as unread.");
    store.change((draft) => void (draft.messages[id].read = false));
  };
  const star = () => store.change((draft) => void (draft.messages[id].starred = !shown.starred));
  const label = (name) =>
    store.change((draft) => {
      const { labels } = draft.messages[id];
      if (!labels.includes(name)) labels.push(name);
    });
  const choices = Object.entries(state.labels).map(([key, { name }]) => [key, name]);
  const write = (mode, text) => h("a.button", { href: link("compose", { [mode]: id }) }, text);
  return h(
    "div.actions",
    { role: "toolbar", "aria-label": "Message" },
    write("reply", "Reply"),
    shown.to.length + shown.cc.length > 1 ? write("all", "Reply all") : null,
    write("forward", "Forward"),
    shown.folder === "trash"
      ? [
          h("button", { onclick: back }, "Restore"),
          h("button.danger", { onclick: () => confirmed("Delete this message forever?", "Yes, delete", erase) }, "Delete forever"),
        ]
      : h("button", { onclick: moved("trash") }, "Delete"),
    shown.folder === "inbox" ? h("button", { onclick: moved("archive") }, "Archive") : null,
    shown.folder === "spam" ? h("button", { onclick: moved("inbox") }, "Not spam") : h("button", { onclick: moved("spam") }, "Spam"),
    h("button", { onclick: unread }, "Mark as unread"),
    h("button", { onclick: star, "aria-pressed": String(shown.starred) }, shown.starred ? "★ Starred" : "☆ Star"),
    picker("Move to", false, Object.entries(FOLDERS).filter(([key]) => !["drafts", "sent", shown.folder].includes(key)), (to) => moved(to)()),
    picker("Add label", false, choices, label),
  );
}
