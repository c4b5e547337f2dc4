/** The week as seven columns of hours. */

import { addDays, clockTime, longDate, minutes, mondayOf, shortDate, weekday } from "/common/dates.js";
import { h } from "/common/dom.js";
import { link } from "/common/page.js";
import { onDay } from "./model.js";
import { dropPlace } from "./moving.js";
import { bar, chip } from "./views.js";

const FIRST_HOUR = 7;
const LAST_HOUR = 20;
const HOUR_HEIGHT = 42;

export function week(context) {
  const start = mondayOf(context.path[1] ?? context.state.clock.slice(0, 10));
  const days = [0, 1, 2, 3, 4, 5, 6].map((day) => addDays(start, day));
  const title = `${shortDate(start)} to ${longDate(days[6])}`;
  const hours = Array.from({ length: LAST_HOUR - FIRST_HOUR }, (_, at) => FIRST_HOUR + at);
  const marks = hours.map((hour) => h("div.mark", { "aria-hidden": "true" }, clockTime(hour * 60)));
  return {
    title: `Week of ${longDate(start)}`,
    body: [
      bar("week", title, context, addDays(start, -7), addDays(start, 7)),
      h("div.week", null, h("div.marks", null, marks), days.map((date) => column(context, date, hours))),
    ],
  };
}

function column(context, date, hours) {
  const events = onDay(context.state, date);
  const name = `${weekday(date)} ${shortDate(date)}`;
  const current = date === context.state.clock.slice(0, 10) ? "date" : null;
  const slots = hours.map((hour) => {
    const time = clockTime(hour * 60);
    const slot = h("a.slot", { href: link("new", { date, start: time }), "aria-label": `${weekday(date)} ${time}`, draggable: "false" });
    return dropPlace(slot, date, time);
  });
  return h(
    "section.day",
    { "aria-label": name, "aria-current": current },
    h("a.head", { href: link("day", date) }, name),
    h("div.wholeday", null, events.filter(({ allDay }) => allDay).map((event) => chip(context, event, event.title))),
    h("div.hours", null, slots, events.filter(({ allDay }) => !allDay).map((event) => block(context, event, events))),
  );
}

function block(context, event, events) {
  const shown = chip(context, event, [h("strong", null, event.title), h("span", null, `${event.start} ${event.place}`)]);
  const beside = events.filter((other) => !other.allDay && other.start < event.end && event.start < other.end);
  const top = minutes(event.start) - FIRST_HOUR * 60;
  const width = 100 / beside.length;
  shown.classList.add("block");
  shown.style.top = `${(top / 60) * HOUR_HEIGHT}px`;
  shown.style.height = `${((minutes(event.end) - minutes(event.start)) / 60) * HOUR_HEIGHT - 2}px`;
  shown.style.left = `${beside.findIndex(({ id }) => id === event.id) * width}%`;
  shown.style.width = `calc(${width}% - 3px)`;
  return shown;
}
