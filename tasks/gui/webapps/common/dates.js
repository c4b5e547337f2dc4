/** Dates as `2026-03-12` and times as `14:30`, which sort as text; reckoned in UTC, so that no zone matters. */

const MONTHS = ["January", "February", "March", "April", "May", "June"].concat(
  ["July", "August", "September", "October", "November", "December"],
);
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

function parsed(date) {
  return new Date(`${date.slice(0, 10)}T00:00:00Z`);
}

/** The date so many days later. */
export function addDays(date, days) {
  const day = parsed(date);
  day.setUTCDate(day.getUTCDate() + days);
  return day.toISOString().slice(0, 10);
}

/** The date so many months later, at most the last of that month. */
export function addMonths(date, months) {
  const day = parsed(date);
  const first = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(day.getUTCDate(), last));
  return first.toISOString().slice(0, 10);
}

/** Days from one date to another. */
export function daysBetween(from, to) {
  return Math.round((parsed(to) - parsed(from)) / 86_400_000);
}

/** The Monday on or before a date. */
export function mondayOf(date) {
  return addDays(date, -((parsed(date).getUTCDay() + 6) % 7));
}

/** `Thursday`. */
export function weekday(date) {
  return DAYS[parsed(date).getUTCDay()];
}

/** `March 2026`. */
export function monthName(date) {
  return `${MONTHS[Number(date.slice(5, 7)) - 1]} ${date.slice(0, 4)}`;
}

/** `12 March 2026`. */
export function longDate(date) {
  return `${Number(date.slice(8, 10))} ${monthName(date)}`;
}

/** `12 Mar`. */
export function shortDate(date) {
  return `${Number(date.slice(8, 10))} ${MONTHS[Number(date.slice(5, 7)) - 1].slice(0, 3)}`;
}

/** Minutes since midnight of `14:30`. */
export function minutes(time) {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** `14:30` of minutes since midnight. */
export function clockTime(total) {
  const pad = (number) => String(number).padStart(2, "0");
  return `${pad(Math.floor(total / 60))}:${pad(total % 60)}`;
}
