/** What a calendar is: the days an event takes place on, overlaps, guests. */

import { addDays, addMonths, clockTime, daysBetween, longDate, minutes, weekday } from "/common/dates.js";
import { isEmail } from "/common/forms.js";
import { list } from "/common/store.js";

export const REPEATS = { none: "Does not repeat", daily: "Every day", weekly: "Every week", monthly: "Every month" };
export const ANSWERS = { yes: "Accepted", maybe: "Maybe", no: "Declined", pending: "No answer yet" };

/** The events of a day in calendars that are shown, each with that day as `on`; all-day ones first, then by time. */
export function onDay(state, date) {
  const found = list(state.events).filter((event) => state.calendars[event.calendar].shown && takesPlace(event, date));
  found.sort((a, b) => Number(b.allDay) - Number(a.allDay) || a.start.localeCompare(b.start));
  return found.map((event) => ({ ...event, on: date }));
}

/** Whether an event takes place on a date. */
export function takesPlace(event, date) {
  if (event.answer === "no" || date < event.date || event.skipped.includes(date)) return false;
  if (event.date === date) return true;
  if (event.repeat === "none" || (event.until && date > event.until)) return false;
  if (event.repeat === "daily") return true;
  if (event.repeat === "weekly") return daysBetween(event.date, date) % 7 === 0;
  const months = (Number(date.slice(0, 4)) - Number(event.date.slice(0, 4))) * 12 + Number(date.slice(5, 7)) - Number(event.date.slice(5, 7));
  return addMonths(event.date, months) === date;
}

/** Events with a time that overlap one on its first day, but for that of `id`. */
export function overlaps(state, { date, start, end, allDay }, id) {
  if (allDay) return [];
  return list(state.events).filter(
    (other) => other.id !== id && !other.allDay && takesPlace(other, date) && other.start < end && start < other.end,
  );
}

/** `10:00 to 11:00`, or `all day`. */
export function hours({ allDay, start, end }) {
  return allDay ? "all day" : `${start} to ${end}`;
}

/** `Thursday, 12 March 2026`. */
export function dayName(date) {
  return `${weekday(date)}, ${longDate(date)}`;
}

/** An event's name where all else is cut: `Design review, 10:00 to 11:00`. */
export function fullName(event) {
  return `${event.title}, ${hours(event)}`;
}

/** The event moved to another day and, where it has one, another hour; it stays as long as it is. */
export function shifted(event, date, start) {
  if (event.allDay || start === undefined) return { ...event, date };
  const length = minutes(event.end) - minutes(event.start);
  const begin = Math.min(minutes(start), 24 * 60 - 1 - length);
  return { ...event, date, start: clockTime(begin), end: clockTime(begin + length) };
}

/** The guests in a text, divided by commas: addresses or names of contacts; those who were there keep their answer. */
export function guestsIn(state, text, before) {
  const parts = text.split(/[,;]/).map((part) => part.trim()).filter(Boolean);
  const names = Object.entries(state.contacts);
  return parts.map((part) => {
    const email = names.find(([name]) => name.toLowerCase() === part.toLowerCase())?.[1] ?? part;
    return before.find((guest) => guest.email === email) ?? { email, answer: "pending" };
  });
}

/** Why a text of guests is no good; empty where it is. */
export function guestFault(state, text) {
  const wrong = guestsIn(state, text, []).find(({ email }) => !isEmail(email));
  return wrong ? `“${wrong.email}” is neither an address nor a contact.` : "";
}

/** What an address is called among the contacts. */
export function nameOf(state, email) {
  if (email === state.me.email) return state.me.name;
  return Object.entries(state.contacts).find(([, address]) => address === email)?.[0] ?? email;
}

/** Events without an answer yet. */
export function invitations(state) {
  return list(state.events).filter(({ answer }) => answer === "pending").sort((a, b) => a.date.localeCompare(b.date));
}

/** Days from a date on in which an event takes place, at most `count`. */
export function nextDays(event, from, count) {
  const days = [];
  for (let date = from < event.date ? event.date : from, tried = 0; days.length < count && tried < 400; tried += 1) {
    if (takesPlace(event, date)) days.push(date);
    if (event.repeat === "none" && date > event.date) break;
    date = addDays(date, 1);
  }
  return days;
}
