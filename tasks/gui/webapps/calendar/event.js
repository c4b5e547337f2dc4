/** One event: its form, or what an invitation says; and a new one. */

import { addDays, clockTime, minutes } from "/common/dates.js";
import { h } from "/common/dom.js";
import { confirmed, field, form, required } from "/common/forms.js";
import { link } from "/common/page.js";
import { nextId } from "/common/store.js";
import { ANSWERS, dayName, guestFault, guestsIn, hours, nameOf, overlaps, REPEATS } from "./model.js";
import { answers } from "./views.js";

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

export function create(context) {
  const { query, state } = context;
  const start = query.start ?? "09:00";
  const begun = {
    title: "",
    date: query.date ?? state.clock.slice(0, 10),
    allDay: false,
    start,
    end: clockTime(minutes(start) + 60),
    calendar: "work",
    place: "",
    notes: "",
    guests: [],
    repeat: "none",
    until: "",
    skipped: [],
    organiser: state.me.email,
    answer: "yes",
  };
  return { title: "New event", body: [h("h1", null, "New event"), editor(context, null, begun, begun.date)] };
}

export function event(context) {
  const { state, path } = context;
  const [, id, on] = path;
  const shown = state.events[id];
  if (!shown) return { title: "No such event", body: h("h1", null, "There is no such event") };
  const day = on ?? shown.date;
  const own = shown.organiser === state.me.email;
  return {
    title: shown.title,
    body: [
      h("h1", null, shown.title),
      h("p.quiet", null, `${dayName(day)}, ${hours(shown)}${shown.repeat === "none" ? "" : ` · ${REPEATS[shown.repeat].toLowerCase()}`}`),
      own ? editor(context, id, shown, day) : invitation(context, { ...shown, id }),
    ],
  };
}

function invitation(context, shown) {
  const { state } = context;
  const guests = shown.guests.map(({ email, answer }) => `${nameOf(state, email)} (${ANSWERS[answer].toLowerCase()})`);
  return h(
    "div.card",
    null,
    h("p", null, `${nameOf(state, shown.organiser)} invites you. ${shown.answer === "pending" ? "You have not answered yet." : `Your answer: ${ANSWERS[shown.answer].toLowerCase()}.`}`),
    shown.place ? h("p", null, `Place: ${shown.place}`) : null,
    guests.length ? h("p", null, `Guests: ${guests.join(", ")}`) : null,
    shown.notes ? h("p", null, shown.notes) : null,
    answers(context, shown),
  );
}

function editor(context, id, shown, day) {
  const { store, state, go } = context;
  const calendars = Object.entries(state.calendars).map(([key, { name }]) => [key, name]);
  const guests = shown.guests.map(({ email }) => nameOf(state, email)).join(", ");
  const send = (given) => {
    const faults = faultsOf(state, given);
    if (Object.keys(faults).length) return faults;
    const saved = { ...shown, ...given, guests: guestsIn(state, given.guests, shown.guests) };
    if (saved.allDay) Object.assign(saved, { start: "", end: "" });
    const save = () => {
      store.change((draft) => void (draft.events[id ?? nextId(draft.events, "e")] = saved));
      go(link("day", saved.date), `${saved.title} is saved.`);
    };
    const others = overlaps(state, saved, id);
    if (!others.length) return save();
    confirmed(`It overlaps ${others.map((other) => `${other.title} (${hours(other)})`).join(", ")}. Save it anyway?`, "Save anyway", save);
  };
  return form(
    { class: "card" },
    send,
    field("Title", "title", { value: shown.title }),
    h(
      "div.row",
      null,
      field("Date", "date", { value: shown.date, hint: "Such as 2026-03-31" }),
      field("Start", "start", { value: shown.start, hint: "Such as 14:30" }),
      field("End", "end", { value: shown.end }),
    ),
    field("All day", "allDay", { type: "checkbox", value: shown.allDay }),
    h(
      "div.row",
      null,
      field("Calendar", "calendar", { type: "select", choices: calendars, value: shown.calendar }),
      field("Place", "place", { value: shown.place }),
    ),
    field("Guests", "guests", { value: guests, hint: "Names of contacts or addresses, divided by commas" }),
    h(
      "div.row",
      null,
      field("Repeat", "repeat", { type: "select", choices: Object.entries(REPEATS), value: shown.repeat }),
      field("Repeat until", "until", { value: shown.until, hint: "Empty: for ever" }),
    ),
    field("Notes", "notes", { type: "textarea", rows: 3, value: shown.notes }),
    h("div.actions", null, h("button.primary", null, "Save event"), id ? removal(context, id, shown, day) : null),
  );
}

function removal({ store, go }, id, shown, day) {
  const all = () => {
    go(link("day", day), `${shown.title} is deleted.`);
    store.change((draft) => void delete draft.events[id]);
  };
  if (shown.repeat === "none") {
    return h("button.danger", { type: "button", onclick: () => confirmed(`Delete ${shown.title}?`, "Yes, delete", all) }, "Delete event");
  }
  const once = () => {
    store.change((draft) => void draft.events[id].skipped.push(day));
    go(link("day", day), `${shown.title} does not take place on this day.`);
  };
  const ends = () => {
    store.change((draft) => void (draft.events[id].until = addDays(day, -1)));
    go(link("day", day), `${shown.title} ends before this day.`);
  };
  return [
    h("button.danger", { type: "button", onclick: once }, "Delete only this day"),
    h("button.danger", { type: "button", onclick: ends }, "Delete this and later days"),
    h("button.danger", { type: "button", onclick: () => confirmed(`Delete all of ${shown.title}?`, "Yes, delete all", all) }, "Delete all days"),
  ];
}

function faultsOf(state, given) {
  const faults = required(given, { title: "A title" });
  if (!DATE.test(given.date)) faults.date = "Write the date as 2026-03-31.";
  if (!given.allDay) {
    for (const name of ["start", "end"]) if (!TIME.test(given[name])) faults[name] = "Write the time as 14:30.";
    if (!faults.start && !faults.end && given.end <= given.start) faults.end = "It ends before it starts.";
  }
  if (given.until && !DATE.test(given.until)) faults.until = "Write the date as 2026-03-31.";
  const guests = guestFault(state, given.guests);
  if (guests) faults.guests = guests;
  return faults;
}
