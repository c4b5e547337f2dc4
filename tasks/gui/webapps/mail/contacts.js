/** Contacts: their list, and one of them. */

import { h } from "/common/dom.js";
import { confirmed, field, form, isEmail, required } from "/common/forms.js";
import { link } from "/common/page.js";
import { list, nextId } from "/common/store.js";

export function contacts({ state }) {
  const rows = list(state.contacts)
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name, email, company, phone }) =>
      h(
        "tr",
        { "aria-label": name },
        h("td", null, h("a", { href: link("contact", id) }, name)),
        h("td", null, email),
        h("td", null, company),
        h("td", null, phone),
        h("td", null, h("a", { href: link("compose", { to: email }), "aria-label": `Write to ${name}` }, "Write")),
      ),
    );
  const head = h("tr", null, ["Name", "E-mail", "Company", "Phone", ""].map((text) => h("th", { scope: "col" }, text)));
  return {
    title: "Contacts",
    body: [
      h("h1", null, "Contacts"),
      h("div.actions", null, h("a.button.primary", { href: link("contact", "new") }, "New contact")),
      h("table.list", { "aria-label": "Contacts" }, h("thead", null, head), h("tbody", null, rows)),
    ],
  };
}

export function contact({ store, state, path, go }) {
  const known = state.contacts[path[1]];
  const at = (name) => ({ value: known?.[name] ?? "" });
  const save = (given) => {
    const faults = required(given, { name: "A name", email: "An e-mail address" });
    if (given.email && !isEmail(given.email)) faults.email = "This is no e-mail address.";
    if (Object.keys(faults).length) return faults;
    store.change((draft) => void (draft.contacts[known ? path[1] : nextId(draft.contacts, "c")] = given));
    go(link("contacts"), `${given.name} is saved.`);
  };
  const remove = () => {
    store.change((draft) => void delete draft.contacts[path[1]]);
    go(link("contacts"), `${known.name} is removed.`);
  };
  return {
    title: known ? known.name : "New contact",
    body: [
      h("h1", null, known ? known.name : "New contact"),
      form(
        { class: "card" },
        save,
        field("Name", "name", at("name")),
        field("E-mail", "email", { type: "email", ...at("email") }),
        field("Company", "company", at("company")),
        field("Phone", "phone", { type: "tel", ...at("phone") }),
        h(
          "div.actions",
          null,
          h("button.primary", null, "Save contact"),
          h("a.button", { href: link("contacts") }, "Cancel"),
          known
            ? h("button.danger", { type: "button", onclick: () => confirmed(`Remove ${known.name}?`, "Yes, remove", remove) }, "Remove contact")
            : null,
        ),
      ),
    ],
  };
}
