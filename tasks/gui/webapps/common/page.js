/** Draws the page that the address names, and draws it again whenever the address or the state changes. */

import { h } from "./dom.js";
import { Store } from "./store.js";

/** An address within the application: `link("product", "p03")`, `link("search", { q: "lamp" })`. */
export function link(...parts) {
  const last = parts.at(-1);
  const query = typeof last === "object" ? parts.pop() : {};
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const path = parts.map(encodeURIComponent).join("/");
  return `#/${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

/**
 * Run an application.
 *
 * @param name What it is called, for titles.
 * @param pages By the first part of the address, functions from a context to `{ title, body, focus }`; the first is the
 *   home. `focus` is the id of what gets the keyboard's focus, where it is not to stay as it is.
 * @param frame From a context and the page's body to what the whole document shows.
 * @param derive See `Store.open`.
 */
export async function run({ name, pages, frame, derive }) {
  const store = await Store.open(derive);
  const root = document.body.appendChild(h("div"));
  const pointer = { pressed: false, waiting: false };
  let notice = "";
  let carried = false;
  let written = false;

  const context = () => {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    return {
      store,
      state: store.state,
      path: path.split("/").filter(Boolean).map(decodeURIComponent),
      query: Object.fromEntries(new URLSearchParams(query)),
      say,
      go,
      draw,
    };
  };

  /** Show a sentence above the page until the next page is opened. */
  function say(text) {
    notice = text;
    draw();
  }

  /** Open another page, with a sentence above it. */
  function go(address, text = "") {
    notice = text;
    carried = location.hash !== address;
    if (carried) location.hash = address;
    else draw();
  }

  function draw() {
    if (pointer.pressed) {
      pointer.waiting = true;
      return;
    }
    const here = context();
    const page = pages[here.path[0]] ?? (here.path.length ? missing : Object.values(pages)[0]);
    const { title, body, focus } = page(here);
    const kept = focus ?? document.activeElement?.id;
    document.title = `${title} – ${name}`;
    const status = h("div.notice", { role: "status" }, notice);
    root.replaceChildren(...[frame(here, [status, ...[body].flat()])].flat());
    written = false;
    if (kept) document.getElementById(kept)?.focus({ preventScroll: true });
  }

  /** Nothing is drawn between a press and its release: what is drawn anew under the pointer would never be clicked. */
  function release() {
    pointer.pressed = false;
    if (pointer.waiting) draw();
    pointer.waiting = false;
  }

  addEventListener("pointerdown", () => void (pointer.pressed = true), true);
  for (const type of ["pointerup", "pointercancel", "keydown"]) addEventListener(type, () => setTimeout(release), true);
  addEventListener("change", ({ target }) => target.localName === "select" && setTimeout(release), true); // swallows the release
  addEventListener("hashchange", () => {
    if (!carried) notice = "";
    carried = false;
    draw();
    scrollTo(0, 0);
  });
  addEventListener("input", () => void (written = true));
  store.watch((elsewhere) => {
    if (!(elsewhere && written)) draw(); // what is being written here is not thrown away
  });
  draw();
}

function missing() {
  return { title: "Not found", body: [h("h1", null, "There is no such page"), h("a", { href: "#/" }, "Go home")] };
}
