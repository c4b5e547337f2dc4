/** Writing: a new message, a reply, a forward, or a draft that is taken up again. */

import { longDate } from "/common/dates.js";
import { h } from "/common/dom.js";
import { field, form } from "/common/forms.js";
import { link } from "/common/page.js";
import { nextId } from "/common/store.js";
import { addressesIn, addressFault } from "./model.js";

export function compose(context) {
  const { store, state, query, go } = context;
  const begun = beginning(state, query);
  const write = (given, button) => {
    const sending = button?.value !== "draft";
    const faults = sending ? faultsOf(state, given) : {};
    if (Object.keys(faults).length) return faults;
    store.change((draft) => keep(draft, given, begun, query.draft, sending));
    go(link("folder", sending ? "inbox" : "drafts"), sending ? "Your message is sent." : "Your draft is saved.");
  };
  const discard = () => {
    if (query.draft) store.change((draft) => void delete draft.messages[query.draft]);
    go(link("folder", "inbox"), "The draft is discarded.");
  };
  const names = Object.values(state.contacts).map(({ name, email }) => h("option", { value: email }, name));
  return {
    title: begun.title,
    body: [
      h("h1", null, begun.title),
      form(
        { class: "card wide" },
        write,
        field("To", "to", { value: begun.to, list: "contacts", hint: "Addresses or names of contacts, divided by commas" }),
        field("Cc", "cc", { value: begun.cc, list: "contacts" }),
        h("datalist", { id: "contacts" }, names),
        field("Subject", "subject", { value: begun.subject }),
        field("Message", "body", { type: "textarea", rows: 9, value: begun.body }),
        field("Add my signature", "signed", { type: "checkbox", value: state.settings.signed && !query.draft }),
        begun.quoted ? h("details", { open: true }, h("summary", null, begun.note), h("div.body.quiet", null, begun.quoted)) : null,
        h(
          "div.actions",
          null,
          h("button.primary", { value: "send" }, "Send"),
          h("button", { value: "draft" }, "Save draft"),
          h("button", { type: "button", onclick: discard }, "Discard"),
        ),
      ),
    ],
  };
}

function beginning(state, query) {
  const empty = { title: "New message", to: query.to ?? "", cc: "", subject: "", body: "", quoted: "", answers: null };
  const source = state.messages[query.reply ?? query.all ?? query.forward ?? query.draft];
  if (!source) return empty;
  if (query.draft) {
    const { subject, body, answers } = source;
    return { ...empty, title: "Draft", to: source.to.join(", "), cc: source.cc.join(", "), subject, body, answers };
  }
  const quoted = `On ${longDate(source.date)} ${source.from.name} wrote:\n\n${source.body}`;
  if (query.forward) {
    const subject = prefixed("Fwd: ", source.subject);
    return { ...empty, title: "Forward", subject, quoted, note: "Forwarded below your message", forwarded: true };
  }
  const others = [...source.to, ...source.cc].filter((email) => email !== state.me.email);
  const mine = source.from.email === state.me.email;
  return {
    ...empty,
    title: "Reply",
    to: mine ? source.to.join(", ") : source.from.email,
    cc: query.all ? others.join(", ") : "",
    subject: prefixed("Re: ", source.subject),
    quoted,
    note: "In answer to",
    answers: query.reply ?? query.all,
  };
}

function prefixed(prefix, subject) {
  return subject.startsWith(prefix) ? subject : prefix + subject;
}

function faultsOf(state, { to, cc, subject }) {
  const faults = {};
  if (!to) faults.to = "Say to whom.";
  for (const [name, text] of Object.entries({ to, cc })) {
    const fault = addressFault(state, text);
    if (fault) faults[name] = fault;
  }
  if (!subject) faults.subject = "A subject is missing.";
  return faults;
}

function keep(draft, given, begun, known, sending) {
  const parts = [given.body];
  if (given.signed && sending) parts.push(`--\n${draft.settings.signature}`);
  if (begun.forwarded) parts.push(`---------- Forwarded message ----------\n${begun.quoted}`);
  draft.messages[known ?? nextId(draft.messages, "m")] = {
    folder: sending ? "sent" : "drafts",
    was: null,
    from: { ...draft.me },
    to: addressesIn(draft, given.to),
    cc: addressesIn(draft, given.cc),
    subject: given.subject,
    body: parts.filter(Boolean).join("\n\n"),
    date: draft.clock,
    read: true,
    starred: false,
    labels: [],
    answers: begun.answers,
  };
}
