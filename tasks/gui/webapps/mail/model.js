/** What mail is: folders, moving between them, names of addresses, finding messages. */

import { shortDate } from "/common/dates.js";
import { isEmail } from "/common/forms.js";
import { list } from "/common/store.js";

export const FOLDERS = {
  inbox: "Inbox",
  drafts: "Drafts",
  sent: "Sent",
  archive: "Archive",
  spam: "Spam",
  trash: "Trash",
};

/** Messages of a folder, newest first. */
export function inFolder(state, folder) {
  return newestFirst(list(state.messages).filter((message) => message.folder === folder));
}

/** Messages with a label, in any folder but trash and spam. */
export function labelled(state, label) {
  const seen = list(state.messages).filter(({ folder }) => folder !== "trash" && folder !== "spam");
  return newestFirst(seen.filter((message) => message.labels.includes(label)));
}

/** Messages in which every word occurs; `from:` and `subject:` before a word say where. */
export function searched(state, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return newestFirst(list(state.messages).filter((message) => words.every((word) => occurs(message, word))));
}

function occurs(message, word) {
  const from = `${message.from.name} ${message.from.email}`.toLowerCase();
  const subject = message.subject.toLowerCase();
  if (word.startsWith("from:")) return from.includes(word.slice(5));
  if (word.startsWith("subject:")) return subject.includes(word.slice(8));
  return `${from} ${subject} ${message.to.join(" ")} ${message.body}`.toLowerCase().includes(word);
}

function newestFirst(messages) {
  return messages.sort((a, b) => b.date.localeCompare(a.date));
}

/** Move a message; into the trash it remembers where it was. */
export function move(draft, id, folder) {
  const message = draft.messages[id];
  if (!message || message.folder === folder) return;
  message.was = folder === "trash" ? message.folder : null;
  message.folder = folder;
}

/** Take a message out of the trash, to where it was. */
export function restore(draft, id) {
  move(draft, id, draft.messages[id].was ?? "inbox");
}

/** The addresses in a text, divided by commas; names of contacts become their addresses. */
export function addressesIn(state, text) {
  const contacts = Object.values(state.contacts);
  const parts = text.split(/[,;]/).map((part) => part.trim()).filter(Boolean);
  return parts.map((part) => {
    const named = contacts.find(({ name }) => name.toLowerCase() === part.toLowerCase());
    return named ? named.email : (/<([^>]+)>$/.exec(part)?.[1] ?? part);
  });
}

/** Why a text of addresses is no good; empty where it is. */
export function addressFault(state, text) {
  const wrong = addressesIn(state, text).find((address) => !isEmail(address));
  return wrong ? `“${wrong}” is neither an address nor a contact.` : "";
}

/** What an address is called among the contacts. */
export function nameOf(state, email) {
  if (email === state.me.email) return "me";
  return Object.values(state.contacts).find((contact) => contact.email === email)?.name ?? email;
}

/** `08:41` today, else `10 Mar`. */
export function when(state, date) {
  return date.slice(0, 10) === state.clock.slice(0, 10) ? date.slice(11) : shortDate(date);
}

/** How many messages of a folder are unread. */
export function unread(state, folder) {
  return Object.values(state.messages).filter((message) => message.folder === folder && !message.read).length;
}
