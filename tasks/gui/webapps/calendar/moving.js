/** Moving events by dragging them onto a day or an hour. */

import { shortDate, weekday } from "/common/dates.js";
import { confirmed } from "/common/forms.js";
import { hours, overlaps, shifted } from "./model.js";

const LEAST = 6; // pixels; what is shorter is a click
const LOWER_HALF = 0.6; // of an hour's height; below it, half past is meant

/** Make an element a place onto which events can be dragged. */
export function dropPlace(element, date, time) {
  element.dataset.date = date;
  if (time) element.dataset.time = time;
  return element;
}

/** Let an event be dragged by its element. */
export function movable(context, element, event) {
  let from = null;
  element.addEventListener("pointerdown", (press) => {
    if (press.button === 0) from = { x: press.clientX, y: press.clientY };
  });
  element.addEventListener("pointermove", (move) => {
    if (!from || element.classList.contains("dragged") || distance(from, move) < LEAST) return;
    element.setPointerCapture(move.pointerId);
    element.classList.add("dragged");
  });
  element.addEventListener("pointerup", (up) => {
    const dragged = element.classList.contains("dragged");
    from = null;
    if (!dragged) return;
    element.classList.remove("dragged");
    element.addEventListener("click", (click) => click.preventDefault(), { once: true });
    drop(context, event, up);
  });
}

function distance(from, { clientX, clientY }) {
  return Math.hypot(clientX - from.x, clientY - from.y);
}

function drop(context, event, { clientX, clientY }) {
  const place = document.elementsFromPoint(clientX, clientY).find(({ dataset }) => dataset.date);
  if (!place) return;
  const { date, time } = place.dataset;
  const { top, height } = place.getBoundingClientRect();
  const start = time && (clientY - top > height * LOWER_HALF ? time.replace(":00", ":30") : time);
  move(context, event, shifted(event, date, start));
}

function move({ store, state, say }, event, to) {
  if (to.date === event.on && to.start === event.start) return;
  if (event.organiser !== state.me.email) return say("Only who made an event can move it.");
  if (event.repeat !== "none") return say("Open a repeating event to move it.");
  const save = () => {
    store.change((draft) => void Object.assign(draft.events[event.id], { date: to.date, start: to.start, end: to.end }));
    say(`${event.title} is now on ${weekday(to.date)} ${shortDate(to.date)}, ${hours(to)}.`);
  };
  const others = overlaps(state, to, event.id);
  if (others.length) return confirmed(`That overlaps ${others.map(({ title }) => title).join(", ")}. Move it anyway?`, "Move anyway", save);
  save();
}
