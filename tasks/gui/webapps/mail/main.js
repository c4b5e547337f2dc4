/** Postbox, a mail client. */

import { h } from "/common/dom.js";
import { form } from "/common/forms.js";
import { link, run } from "/common/page.js";
import { compose } from "./compose.js";
import { contact, contacts } from "./contacts.js";
import { folder, label, search } from "./listing.js";
import { message } from "./message.js";
import { FOLDERS, inFolder, unread } from "./model.js";
import { settings } from "./settings.js";

const pages = { folder, label, search, message, compose, contacts, contact, settings };

function frame({ state, path, query, go }, body) {
  const here = path.length ? path.slice(0, 2).join("/") : "folder/inbox";
  const entry = (text, ...parts) =>
    h("li", null, h("a", { href: link(...parts), "aria-current": here === parts.join("/") ? "page" : null }, text));
  const folders = Object.entries(FOLDERS).map(([id, name]) => {
    const count = id === "drafts" ? inFolder(state, id).length : unread(state, id);
    return entry(id !== "sent" && id !== "trash" && count ? `${name} (${count})` : name, "folder", id);
  });
  const labels = Object.entries(state.labels).map(([id, { name }]) => entry(name, "label", id));
  return [
    h(
      "header.top",
      null,
      h("a.brand", { href: "#/" }, "Postbox"),
      form(
        { role: "search" },
        ({ q }) => go(link("search", { q })),
        h("input", { id: "find", name: "q", type: "search", "aria-label": "Search mail", placeholder: "Search mail, also from:name or subject:word", value: query.q ?? "" }),
        h("button", null, "Search"),
      ),
      h("span.quiet", null, state.me.email),
    ),
    h(
      "div.sides",
      null,
      h(
        "nav.side",
        { "aria-label": "Mail" },
        h("a.button.primary", { href: link("compose") }, "Compose"),
        h("ul.plain", null, folders),
        h("h2", null, "Labels"),
        h("ul.plain", { "aria-label": "Labels" }, labels),
        h("h2", null, "More"),
        h("ul.plain", null, entry("Contacts", "contacts"), entry("Settings", "settings")),
      ),
      h("main", null, body),
    ),
  ];
}

await run({ name: "Postbox", pages, frame });
