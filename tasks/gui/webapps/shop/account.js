/** The customer: profile, newsletter, addresses. */

import { h } from "/common/dom.js";
import { confirmed, field, form, isEmail, required } from "/common/forms.js";
import { link } from "/common/page.js";
import { nextId } from "/common/store.js";

const COUNTRIES = ["Austria", "Belgium", "Denmark", "France", "Germany", "Netherlands", "Sweden"];
const ADDRESS = { label: "Label", name: "Name", street: "Street", postcode: "Postcode", city: "City", country: "Country" };

export function account(context) {
  return {
    title: "Account",
    body: [h("h1", null, "Your account"), h("div.halves", null, profile(context), addresses(context))],
  };
}

function profile({ store, state, say }) {
  const { name, email, phone, newsletter } = state.profile;
  const save = (given) => {
    const faults = required(given, { name: "A name", email: "An e-mail address" });
    if (given.email && !isEmail(given.email)) faults.email = "This is no e-mail address.";
    if (Object.keys(faults).length) return faults;
    store.change((draft) => void Object.assign(draft.profile, given));
    say("Your profile is saved.");
  };
  return h(
    "section.card",
    { "aria-label": "Profile" },
    h("h2", null, "Profile"),
    form(
      null,
      save,
      field("Name", "name", { value: name }),
      field("E-mail", "email", { type: "email", value: email }),
      field("Phone", "phone", { type: "tel", value: phone }),
      field("Send me the newsletter", "newsletter", { type: "checkbox", value: newsletter }),
      h("button.primary", null, "Save profile"),
    ),
  );
}

function addresses({ store, state, say }) {
  const prefer = (id) => () => {
    store.change((draft) => void (draft.profile.address = id));
    say(`${state.addresses[id].label} is your default address.`);
  };
  const remove = (id) => () => {
    const { label } = state.addresses[id];
    store.change((draft) => void delete draft.addresses[id]);
    say(`${label} is removed.`);
  };
  const cards = Object.entries(state.addresses).map(([id, address]) => {
    const standard = state.profile.address === id;
    return h(
      "li.card",
      { "aria-label": address.label },
      h("strong", null, address.label, " ", standard ? h("span.tag", null, "Default") : null),
      h("p", null, `${address.name}, ${address.street}, ${address.postcode} ${address.city}, ${address.country}`),
      h(
        "div.actions",
        null,
        h("a.button", { href: link("address", id), "aria-label": `Edit ${address.label}` }, "Edit"),
        standard ? null : h("button", { onclick: prefer(id), "aria-label": `Make ${address.label} the default` }, "Make default"),
        standard
          ? null
          : h(
              "button.danger",
              { onclick: () => confirmed(`Remove the address ${address.label}?`, "Remove", remove(id)), "aria-label": `Remove ${address.label}` },
              "Remove",
            ),
      ),
    );
  });
  return h(
    "section",
    { "aria-label": "Addresses" },
    h("h2", null, "Addresses"),
    h("ul.plain", null, cards),
    h("a.button", { href: link("address", "new") }, "Add address"),
  );
}

export function address({ store, state, path, go }) {
  const known = state.addresses[path[1]];
  const save = ({ standard, ...given }) => {
    const faults = required(given, ADDRESS);
    if (given.postcode && !/^[A-Z0-9 -]{3,10}$/i.test(given.postcode)) faults.postcode = "This is no postcode.";
    if (Object.keys(faults).length) return faults;
    store.change((draft) => {
      const id = known ? path[1] : nextId(draft.addresses, "a");
      draft.addresses[id] = given;
      if (standard) draft.profile.address = id;
    });
    go(link("account"), `${given.label} is saved.`);
  };
  const at = (name) => ({ value: known?.[name] ?? "" });
  return {
    title: known ? "Edit address" : "Add address",
    body: [
      h("h1", null, known ? `Edit ${known.label}` : "Add address"),
      form(
        { class: "card" },
        save,
        field("Label", "label", { hint: "Such as Home or Office", ...at("label") }),
        field("Name", "name", at("name")),
        field("Street and number", "street", at("street")),
        h("div.row", null, field("Postcode", "postcode", at("postcode")), field("City", "city", at("city"))),
        field("Country", "country", { type: "select", choices: [["", "Choose a country"], ...COUNTRIES], ...at("country") }),
        field("Use as default address", "standard", { type: "checkbox", value: state.profile.address === path[1] }),
        h("div.actions", null, h("button.primary", null, "Save address"), h("a.button", { href: link("account") }, "Cancel")),
      ),
    ],
  };
}
