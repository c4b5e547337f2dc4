"use strict";
// Everything from the data is put into text nodes, never parsed, and into no attribute but the address of a picture.

const data = JSON.parse(document.getElementById("data").textContent);

/** An element with a class (of our own names) and children: elements, or texts that become text nodes. */
function element(tag, kind, ...children) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...children);
  return made;
}

/** Text in which characters that cannot be seen can be: control characters, and those that turn the direction round. */
function visible(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (char) => "^" + String.fromCharCode(0x40 + char.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
      (char) => "\u27e8U+" + char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "\u27e9");
}

const number = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(4));
const several = data.episodes.some((episode) => episode.sample > 0);
const name = (episode) => episode.task + (several ? ` #${episode.sample + 1}` : "");
const ending = (episode) => episode.ending || episode.status.toLowerCase();

function colour(episode) {
  if (episode.score === null) return "lost";
  if (episode.score >= 1) return "good";
  return episode.score > 0 ? "part" : "bad";
}

/** A patch by lines: within a hunk the first character says what a line is, before it all is about the file. */
function diff(patch) {
  let inHunk = false;
  const lines = patch.replace(/\n$/, "").split("\n").map((line) => {
    if (line.startsWith("diff --git ")) inHunk = false;
    if (line.startsWith("@@ ")) inHunk = true;
    const kind = inHunk ? { "@": "place", "+": "added", "-": "removed" }[line[0]] : "file";
    return element("span", kind, visible(line));
  });
  return element("pre", "diff", ...lines);
}

/** A picture that loads once it is scrolled to; a click shows it in its own size. */
function picture(address) {
  const made = element("img", "");
  made.loading = "lazy";
  made.addEventListener("click", () => made.classList.toggle("large"));
  made.src = address;
  return made;
}

function folded(title, open, ...children) {
  const made = element("details", "", element("summary", "", title), ...children);
  made.open = open;
  return made;
}

/** Tests as `{success: [...], failure: [...]}`: how many, and which failed. */
function tests(value) {
  const failed = value.failure;
  if (!failed.length && !value.success.length) return ["none counted"];
  const head = `${value.success.length} passed, ${failed.length} failed`;
  return failed.length ? [head, element("ul", "", ...failed.map((test) => element("li", "bad", visible(test))))] : [head];
}

const isTests = (value) => value && Array.isArray(value.success) && Array.isArray(value.failure);
const isShort = (value) => typeof value !== "string" || (value.length < 200 && !value.includes("\n"));

/** What the environment says at the end: a table, then long texts folded, then the patch. */
function verdict(report) {
  const rows = [], folds = [];
  for (const [key, value] of Object.entries(report)) {
    if (key === "patch" || value === null || value === "" || value.length === 0) continue;
    if (isTests(value)) rows.push([key, tests(value)]);
    else if (!isShort(value)) folds.push(folded(visible(key), false, element("pre", "", visible(value))));
    else if (typeof value === "object") rows.push([key, [visible(JSON.stringify(value))]]);
    else rows.push([key, [typeof value === "number" ? number(value) : visible(value)]]);
  }
  const body = rows.map(([key, cells]) => element("tr", "", element("td", "", visible(key)), element("td", "", ...cells)));
  const made = [];
  if (rows.length + folds.length) {
    made.push(element("section", "", element("h3", "", "Verdict"), element("table", "", ...body), ...folds));
  }
  if (typeof report.patch === "string" && report.patch) {
    made.push(element("section", "", element("h3", "", "Patch"), diff(report.patch)));
  }
  return made;
}

function message(said, step) {
  const text = element("pre", "", visible(said.text));
  const kind = ["system", "user", "assistant", "tool"].includes(said.role) ? said.role : "other";
  const title = said.role === "assistant" ? `step ${step}` : visible(said.role);
  if (kind === "system") return element("article", kind, folded(title, false, text));
  const shown = said.text || !said.pictures.length ? [text] : [];
  return element("article", kind, element("h3", "", title), ...shown, ...said.pictures.map(picture));
}

function show(episode) {
  const facts = [episode.status, ...(episode.ending ? [episode.ending] : []), episode.score === null ? "not scored" : `score ${number(episode.score)}`,
    `${episode.seconds.toFixed(1)} s`, ...(episode.attempts > 1 ? [`${episode.attempts} attempts`] : []),
    ...Object.entries(episode.metrics).map(([key, value]) => `${key} ${number(value)}`)];
  const chips = facts.map((fact) => element("span", "", visible(fact)));
  chips[0].classList.add(colour(episode));
  const parts = [element("h2", "", visible(name(episode))), element("div", "chips", ...chips)];
  if (episode.error) parts.push(element("section", "bad", visible(episode.error)));
  parts.push(...verdict(episode.report));
  if (episode.recording) parts.push(element("section", "", element("h3", "", "Recording"), picture(episode.recording)));
  let step = 0;
  for (const said of episode.messages) {
    if (said.role === "assistant") step += 1;
    parts.push(message(said, step));
  }
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}

function overview() {
  const text = data.table || `${data.episodes.length} episodes`;
  panel.replaceChildren(element("h2", "", visible(data.title)), element("section", "", element("pre", "wide", visible(text))));
}

const panel = element("main", "");
const search = element("input", "");
search.placeholder = "find a task, or a word of its episode";
const filter = element("select", "", ...["all endings", ...new Set(data.episodes.map(ending))].map((each) => element("option", "", visible(each))));
const list = element("ol", "");
const buttons = data.episodes.map((episode, index) => {
  const button = element("button", "", element("span", colour(episode), "\u25cf"), element("span", "", visible(name(episode))),
    element("small", "", visible(ending(episode))));
  button.addEventListener("click", () => { location.hash = `#${index}`; });
  return button;
});
list.append(...buttons.map((button) => element("li", "", button)));

function wanted(episode) {
  const word = search.value.toLowerCase();
  if (filter.selectedIndex > 0 && visible(ending(episode)) !== filter.value) return false;
  return !word || episode.task.toLowerCase().includes(word) || episode.messages.some((said) => said.text.toLowerCase().includes(word));
}

function narrow() {
  data.episodes.forEach((episode, index) => { buttons[index].parentElement.hidden = !wanted(episode); });
}

function follow() {
  const index = /^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : -1;
  buttons.forEach((button, each) => button.setAttribute("aria-current", String(each === index)));
  if (index in data.episodes) {
    show(data.episodes[index]);
    buttons[index].scrollIntoView({ block: "nearest" });
  } else {
    overview();
  }
}

const heading = element("h1", "", visible(data.title));
const home = element("small", "lost", "click for the summary \u00b7 j, k for the next and previous episode");
heading.addEventListener("click", () => { location.hash = ""; });
search.addEventListener("input", narrow);
filter.addEventListener("change", narrow);
window.addEventListener("hashchange", follow);
document.addEventListener("keydown", (event) => {
  const step = { j: 1, k: -1 }[event.key];
  if (!step || event.target === search || event.target === filter) return;
  const open = buttons.findIndex((button) => button.getAttribute("aria-current") === "true");
  for (let index = open + step; index in buttons; index += step) {
    if (!buttons[index].parentElement.hidden) { location.hash = `#${index}`; return; }
  }
});
document.body.append(element("nav", "", element("header", "", heading, home, search, filter), list), panel);
follow();
