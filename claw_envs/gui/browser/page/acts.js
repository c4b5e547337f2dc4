// What acts need of a page: where an element is, and what only a script can do to a field.
const EDITED_AS_TEXT = new Set(["text", "search", "email", "url", "tel", "password", "number"]);
const SET_AS_VALUE = new Set(["date", "time", "month", "week", "datetime-local", "color", "range"]);

function nodeOf(id) {
  const node = known.get(id)?.deref();
  return node?.isConnected ? node : null;
}

const missing = (id) => ({ error: `there is no element ${id} in this page; ids are those of the last observation` });
const elementOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);

/** The first rectangle of a node that has an extent. */
function rectOf(node) {
  if (node.nodeType === Node.ELEMENT_NODE) return [...node.getClientRects()].find((rect) => rect.width && rect.height);
  const range = node.ownerDocument.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()].find((rect) => rect.width && rect.height);
}

/** The offset of an element's frame from the top left corner of the page that is shown. */
function offsetOf(element) {
  let [x, y] = [0, 0];
  for (let frame = element.ownerDocument.defaultView?.frameElement; frame; frame = frame.ownerDocument.defaultView?.frameElement) {
    const origin = frameOrigin(frame);
    x += origin[0];
    y += origin[1];
  }
  return [x, y];
}

function intoView(element) {
  element.scrollIntoViewIfNeeded(true);
  for (let frame = element.ownerDocument.defaultView?.frameElement; frame; frame = frame.ownerDocument.defaultView?.frameElement) {
    frame.scrollIntoViewIfNeeded(true);
  }
}

/** The element at a point of a document, within open shadow roots. */
function hitAt(root, x, y) {
  const element = root.elementFromPoint(x, y);
  return element?.shadowRoot && element.shadowRoot !== root ? hitAt(element.shadowRoot, x, y) ?? element : element;
}

function hits(element, hit) {
  for (let node = hit; node; node = node.assignedSlot ?? node.parentNode ?? node.host) {
    if (node === element) return true;
    if (node.tagName === "LABEL" && node.control === element) return true;
  }
  return hit?.contains(element) && getComputedStyle(element).pointerEvents === "none";
}

/** Where to point to for an element: the middle of what is seen of it, or another point where that is covered. */
function spot(id) {
  const node = nodeOf(id);
  if (!node) return missing(id);
  const element = elementOf(node);
  if (element.tagName === "OPTION" && element.closest("select,datalist")?.size <= 1) {
    return { error: `element ${id} is an option of a closed list: choose it by its text` };
  }
  intoView(element);
  const rect = rectOf(node) ?? (element.labels?.length ? rectOf(element.labels[0]) : null);
  if (!rect) return { error: `element ${id} is not laid out, so it has no place on the screen` };
  const view = element.ownerDocument.documentElement;
  const [left, right] = [Math.max(rect.left, 0), Math.min(rect.right, view.clientWidth || innerWidth)];
  const [top, bottom] = [Math.max(rect.top, 0), Math.min(rect.bottom, element.ownerDocument.defaultView.innerHeight)];
  if (left >= right || top >= bottom) return { error: `element ${id} cannot be scrolled into view` };
  const [dx, dy] = offsetOf(element);
  let covering = null;
  for (const [u, v] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9]]) {
    const [x, y] = [left + (right - left) * u, top + (bottom - top) * v];
    const hit = hitAt(element.ownerDocument, x, y);
    if (hits(element, hit)) return { x: x + dx, y: y + dy };
    covering ??= hit;
  }
  const role = covering && (roleOf(covering) || covering.tagName.toLowerCase());
  return { error: `element ${id} is covered by ${covering ? `[${idOf(covering)}] ${role}` : "something else"}` };
}

const answer = () => true;
const node = (id) => nodeOf(id);

/** Where a frame's content begins on the page that is shown, after it was scrolled into view. */
function origin(id) {
  const frame = nodeOf(id);
  if (!frame) return missing(id);
  intoView(frame);
  const [[x, y], [dx, dy]] = [frameOrigin(frame), offsetOf(frame)];
  return { x: x + dx, y: y + dy };
}

function announce(element, ...names) {
  for (const name of names) element.dispatchEvent(new Event(name, { bubbles: true, composed: name === "input" }));
}

/** Bring a field into the state in which typed text replaces what it holds; or set it, where text cannot be typed. */
function fill(id, text) {
  const node = nodeOf(id);
  if (!node) return missing(id);
  const element = elementOf(node).closest("input,textarea,[contenteditable]") ?? elementOf(node);
  if (element.matches(":disabled")) return { error: `element ${id} is disabled` };
  if (element.readOnly) return { error: `element ${id} is read-only` };
  intoView(element);
  const type = element.tagName === "INPUT" ? element.type : "";
  if (element.tagName === "TEXTAREA" || EDITED_AS_TEXT.has(type)) {
    element.focus();
    element.select();
    return { typed: true, empty: !element.value };
  }
  if (SET_AS_VALUE.has(type)) return setValue(element, id, text.trim());
  if (element.isContentEditable) {
    element.focus();
    element.ownerDocument.getSelection().selectAllChildren(element);
    return { typed: true, empty: !element.textContent };
  }
  return { error: `element ${id} is no field that text can be filled into` };
}

function setValue(element, id, text) {
  element.focus();
  const old = element.value;
  element.value = text;
  const wrong = element.type === "range" ? Number.isNaN(parseFloat(text)) : element.value.toLowerCase() !== text.toLowerCase() && !(element.type.includes("time") && element.value);
  if (wrong) {
    element.value = old;
    const formats = { date: "2024-05-31", time: "18:30", month: "2024-05", week: "2024-W22", "datetime-local": "2024-05-31T18:30", color: "#ff8800", range: "a number" };
    return { error: `element ${id} takes a ${element.type} as in ${formats[element.type]}` };
  }
  announce(element, "input", "change");
  return {};
}

/** Choose options by what they show, or by their values. */
function choose(id, wanted) {
  const node = nodeOf(id);
  if (!node) return missing(id);
  const list = elementOf(node).closest("select");
  if (!list) return chooseOther(elementOf(node), id, wanted);
  if (list.matches(":disabled")) return { error: `element ${id} is disabled` };
  if (!list.multiple && wanted.length !== 1) return { error: `element ${id} takes exactly one option` };
  const all = [...list.options];
  const found = [];
  for (const text of wanted) {
    const option = all.find((o) => clean(o.label) === clean(text)) ?? all.find((o) => o.value === text) ?? all.find((o) => clean(o.label).toLowerCase() === clean(text).toLowerCase());
    if (!option) return { error: `element ${id} has no option ${JSON.stringify(text)}; it has ${all.slice(0, 20).map((o) => JSON.stringify(clean(o.label))).join(", ")}` };
    if (option.disabled) return { error: `option ${JSON.stringify(text)} is disabled` };
    found.push(option);
  }
  intoView(list);
  list.focus();
  for (const option of all) option.selected = found.includes(option);
  announce(list, "input", "change");
  return {};
}

/** Lists that a page made itself: the options that are to be clicked; and fields with a list of suggestions. */
function chooseOther(element, id, wanted) {
  if (element.tagName === "INPUT" && element.list) return { fill: wanted[0] };
  const inside = [...element.querySelectorAll("[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=radio],[role=tab],[role=treeitem],input[type=radio],input[type=checkbox]")];
  const spots = [];
  for (const text of wanted) {
    const option = inside.find((o) => clean(nameOf(o, roleOf(o))) === clean(text));
    if (!option) return { error: `element ${id} is no list with an option ${JSON.stringify(text)}` };
    spots.push(idOf(option));
  }
  return { click: spots };
}

let effects = 0;
let marked = 0;
// a caret that blinks would make two pictures of one state
const steady = new CSSStyleSheet();
steady.replaceSync("* { caret-animation: manual !important }");
document.adoptedStyleSheets = [...document.adoptedStyleSheets, steady];
new MutationObserver(() => effects++).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
for (const name of ["input", "change", "focusin", "focusout", "scroll", "toggle"]) addEventListener(name, () => effects++, { capture: true, passive: true });

const macrotask = () => new Promise((resolve) => { const { port1, port2 } = new MessageChannel(); port2.onmessage = resolve; port1.postMessage(0); });
const within = (milliseconds, ...promises) => Promise.race([...promises, new Promise((resolve) => setTimeout(resolve, milliseconds))]);

/** Wait until what chromium scrolled on its own has come to the page, which is with the next frames. */
async function scrolled() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await within(1000, frame().then(frame));
}

/**
 * Wait until an act shows: something changed, or `patience` is over; then until short animations have ended.
 * Returns what was copied since the last time, and whether the page is closing itself.
 */
async function settle(patience, animations) {
  listen();
  await macrotask();
  await macrotask(); // of an answer that has just come, the text is there one later
  if (effects === marked && patience) {
    let stop;
    const changed = new Promise((resolve) => {
      const observer = new MutationObserver(() => resolve());
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      const names = ["input", "change", "focusin", "scroll"];
      for (const name of names) addEventListener(name, resolve, { capture: true, once: true });
      stop = () => { observer.disconnect(); for (const name of names) removeEventListener(name, resolve, { capture: true }); };
    });
    await within(patience, changed);
    stop();
  }
  const finite = document.getAnimations().filter((animation) => animation.playState === "running" && animation.effect?.getComputedTiming().endTime < animations + (animation.currentTime ?? 0));
  if (finite.length) await within(animations, Promise.allSettled(finite.map((animation) => animation.finished)));
  marked = effects;
  const taken = copied;
  copied = null;
  return { copied: taken, closing: window.closed };
}
