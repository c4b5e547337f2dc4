/** Settings: the signature, the answer while away, and labels. */

import { h } from "/common/dom.js";
import { confirmed, field, form, required } from "/common/forms.js";

const COLOURS = { "#2f6db3": "Blue", "#1f7a5c": "Green", "#8a5a00": "Amber", "#a8336b": "Pink", "#5c5f66": "Grey", "#7a3fb0": "Violet" };

export function settings(context) {
  return {
    title: "Settings",
    body: [h("h1", null, "Settings"), h("div.halves", null, h("div", null, signature(context), labels(context)), vacation(context))],
  };
}

function signature({ store, state, say }) {
  const save = ({ signature: text, signed }) => {
    store.change((draft) => void Object.assign(draft.settings, { signature: text, signed }));
    say("Your signature is saved.");
  };
  return form(
    { class: "card", "aria-label": "Signature" },
    save,
    h("h2", null, "Signature"),
    field("Signature", "signature", { type: "textarea", rows: 3, value: state.settings.signature }),
    field("Add it to new messages", "signed", { type: "checkbox", value: state.settings.signed }),
    h("button.primary", null, "Save signature"),
  );
}

function vacation({ store, state, say }) {
  const now = state.settings.vacation;
  const save = (given) => {
    const faults = given.on ? required(given, { subject: "A subject", text: "A text" }) : {};
    for (const name of ["from", "until"]) {
      if (given.on && !/^\d{4}-\d\d-\d\d$/.test(given[name])) faults[name] = "Write the date as 2026-03-31.";
    }
    if (!faults.until && given.on && given.until < given.from) faults.until = "The last day is before the first.";
    if (Object.keys(faults).length) return faults;
    store.change((draft) => void (draft.settings.vacation = given));
    say(given.on ? "Your vacation responder is on." : "Your vacation responder is off.");
  };
  return form(
    { class: "card", "aria-label": "Vacation responder" },
    save,
    h("h2", null, "Vacation responder"),
    field("Answer while I am away", "on", { type: "checkbox", value: now.on }),
    h("div.row", null, field("First day", "from", { value: now.from, placeholder: "2026-03-31" }), field("Last day", "until", { value: now.until, placeholder: "2026-04-10" })),
    field("Subject", "subject", { value: now.subject }),
    field("Text", "text", { type: "textarea", value: now.text }),
    h("button.primary", null, "Save responder"),
  );
}

function labels({ store, state, say }) {
  const add = ({ label, colour }) => {
    const id = label.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    if (!id) return { label: "A name is missing." };
    if (id in state.labels) return { label: "There is such a label." };
    store.change((draft) => void (draft.labels[id] = { name: label, colour }));
    say(`Label ${label} is added.`);
  };
  const remove = (id) => () => {
    const { name } = state.labels[id];
    store.change((draft) => {
      delete draft.labels[id];
      for (const message of Object.values(draft.messages)) message.labels = message.labels.filter((each) => each !== id);
    });
    say(`Label ${name} is removed.`);
  };
  const rows = Object.entries(state.labels).map(([id, { name }]) => {
    const ask = () => confirmed(`Remove the label ${name} from all messages?`, "Yes, remove", remove(id));
    return h("li", { "aria-label": name }, name, " ", h("button.plain", { "aria-label": `Remove label ${name}`, onclick: ask }, "Remove"));
  });
  return form(
    { class: "card", "aria-label": "Labels" },
    add,
    h("h2", null, "Labels"),
    h("ul.plain", null, rows),
    h("div.row", null, field("New label", "label"), field("Colour", "colour", { type: "select", choices: Object.entries(COLOURS), value: "#2f6db3" })),
    h("button", null, "Add label"),
  );
}
