/** The month, and lists of events: a day's, what was searched for, invitations. */

import { addDays, addMonths, longDate, mondayOf, monthName, shortDate, weekday } from "/common/dates.js";
import { h } from "/common/dom.js";
import { link } from "/common/page.js";
import { list } from "/common/store.js";
import { dropPlace, movable } from "./moving.js";
import { ANSWERS, dayName, fullName, hours, invitations, nameOf, nextDays, onDay } from "./model.js";

/** The bar above a view: what it shows, the way back, forth and to today. */
export function bar(view, title, { state }, previous, next) {
  const today = state.clock.slice(0, 10);
  return h(
    "div.bar",
    null,
    h("h1", null, title),
    h("a.button", { href: link(view, previous), "aria-label": "Previous" }, "‹"),
    h("a.button", { href: link(view, today) }, "Today"),
    h("a.button", { href: link(view, next), "aria-label": "Next" }, "›"),
    h("a.button.primary", { href: link("new") }, "New event"),
  );
}

/** An event as a coloured link that can be dragged. */
export function chip(context, event, text) {
  const shown = h("a.chip", { href: link("event", event.id, event.on), "aria-label": fullName(event), draggable: "false" }, text);
  shown.style.setProperty("--colour", context.state.calendars[event.calendar].colour);
  if (event.answer === "pending") shown.classList.add("pending");
  movable(context, shown, event);
  return shown;
}

export function month(context) {
  const { state, path } = context;
  const today = state.clock.slice(0, 10);
  const first = `${(path[1] ?? today).slice(0, 7)}-01`;
  const start = mondayOf(first);
  const weeks = [0, 1, 2, 3, 4, 5].filter((week) => week === 0 || addDays(start, week * 7).slice(0, 7) === first.slice(0, 7));
  const cell = (date) => {
    const number = h("a.number", { href: link("day", date), "aria-label": longDate(date) }, String(Number(date.slice(8))));
    const events = onDay(state, date).map((event) => chip(context, event, event.allDay ? event.title : `${event.start} ${event.title}`));
    const shown = h("td", { "aria-current": date === today ? "date" : null }, number, events);
    if (date.slice(0, 7) !== first.slice(0, 7)) shown.classList.add("other");
    return dropPlace(shown, date);
  };
  const names = [0, 1, 2, 3, 4, 5, 6].map((day) => h("th", { scope: "col" }, weekday(addDays(start, day))));
  const rows = weeks.map((week) => h("tr", null, [0, 1, 2, 3, 4, 5, 6].map((day) => cell(addDays(start, week * 7 + day)))));
  return {
    title: monthName(first),
    body: [
      bar("month", monthName(first), context, addMonths(first, -1), addMonths(first, 1)),
      h("table.month", { "aria-label": monthName(first) }, h("thead", null, h("tr", null, names)), h("tbody", null, rows)),
    ],
  };
}

export function day(context) {
  const date = context.path[1] ?? context.state.clock.slice(0, 10);
  const events = onDay(context.state, date);
  return {
    title: longDate(date),
    body: [
      bar("day", dayName(date), context, addDays(date, -1), addDays(date, 1)),
      events.length ? h("ul.plain", null, events.map((event) => entry(context, event))) : h("p.quiet", null, "Nothing on this day."),
      h("div.actions", null, h("a.button", { href: link("new", { date }) }, "New event on this day")),
    ],
  };
}

function entry({ state }, event) {
  const { name, colour } = state.calendars[event.calendar];
  const dot = h("span.dot", { "aria-hidden": "true" });
  dot.style.background = colour;
  return h(
    "li.card",
    { "aria-label": event.title },
    h("div", null, dot, h("a", { href: link("event", event.id, event.on) }, h("strong", null, event.title)), h("span.quiet", null, ` ${hours(event)} · ${name}`)),
    event.place ? h("div.quiet", null, event.place) : null,
    event.guests.length
      ? h("div.quiet", null, `With ${event.guests.map(({ email, answer }) => `${nameOf(state, email)} (${ANSWERS[answer].toLowerCase()})`).join(", ")}`)
      : null,
    event.notes ? h("p", null, event.notes) : null,
  );
}

export function search(context) {
  const { state, query } = context;
  const words = (query.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const text = (event) => `${event.title} ${event.place} ${event.notes} ${event.guests.map(({ email }) => nameOf(state, email)).join(" ")}`;
  const found = list(state.events).filter((event) => words.every((word) => text(event).toLowerCase().includes(word)));
  found.sort((a, b) => a.date.localeCompare(b.date));
  const rows = found.map((event) => {
    const on = nextDays(event, state.clock.slice(0, 10), 1)[0] ?? event.date;
    return h(
      "tr",
      { "aria-label": event.title },
      h("td", null, h("a", { href: link("event", event.id, on) }, event.title)),
      h("td", null, `${weekday(on).slice(0, 3)} ${shortDate(on)}`),
      h("td", null, hours(event)),
      h("td", null, event.place),
    );
  });
  return {
    title: "Search",
    body: [
      h("h1", null, `Events with “${query.q ?? ""}”`),
      rows.length ? h("table.list", { "aria-label": "Events" }, h("tbody", null, rows)) : h("p.quiet", null, "None."),
    ],
  };
}

export function invitationList(context) {
  const waiting = invitations(context.state);
  const card = (event) =>
    h(
      "li.card",
      { "aria-label": event.title },
      h("a", { href: link("event", event.id, event.date) }, h("strong", null, event.title)),
      h("div.quiet", null, `${dayName(event.date)}, ${hours(event)}${event.place ? ` · ${event.place}` : ""}`),
      h("div.quiet", null, `From ${nameOf(context.state, event.organiser)}`),
      answers(context, event),
    );
  return {
    title: "Invitations",
    body: [h("h1", null, "Invitations"), waiting.length ? h("ul.plain", null, waiting.map(card)) : h("p.quiet", null, "You have answered all.")],
  };
}

/** Buttons that answer an invitation. */
export function answers({ store, say }, { id, title, answer }) {
  const give = (value) => () => {
    store.change((draft) => void (draft.events[id].answer = value));
    say(`${title}: ${ANSWERS[value].toLowerCase()}.`);
  };
  const button = (value, text) =>
    h("button", { onclick: give(value), "aria-pressed": String(answer === value), "aria-label": `${text} ${title}` }, text);
  return h("div.actions", null, button("yes", "Accept"), button("maybe", "Maybe"), button("no", "Decline"));
}
