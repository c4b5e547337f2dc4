// Roles and names of elements, after ARIA in HTML and the accessible name computation; a quick subset of both: pieces of
// names that CSS generates, `aria-owns` and values of controls within labels are left out.
const TAGS = {
  BUTTON: "button", SUMMARY: "button", TEXTAREA: "textbox", IMG: "img", TABLE: "table", TR: "row", UL: "list",
  OL: "list", MENU: "list", LI: "listitem", NAV: "navigation", MAIN: "main", HEADER: "banner", FOOTER: "contentinfo",
  ASIDE: "complementary", ARTICLE: "article", DIALOG: "dialog", FIELDSET: "group", DETAILS: "group",
  PROGRESS: "progressbar", METER: "meter", OUTPUT: "status", IFRAME: "iframe", FRAME: "iframe", CANVAS: "canvas",
  VIDEO: "video", AUDIO: "audio", OPTION: "option", DATALIST: "", H1: "heading", H2: "heading", H3: "heading",
  H4: "heading", H5: "heading", H6: "heading", TD: "cell", TH: "columnheader", FORM: "form", SECTION: "region",
  EMBED: "embed", OBJECT: "embed", DT: "term", DD: "definition", MARQUEE: "marquee",
};
const INPUTS = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox", file: "button", hidden: "", color: "color",
  date: "date", time: "time", month: "date", week: "date", "datetime-local": "date",
};
const SHAPES = new Set(["circle", "rect", "ellipse", "line", "path", "polygon", "polyline", "text", "image", "use"]);
const ACTED_ON = new Set([
  "button", "link", "textbox", "searchbox", "spinbutton", "slider", "checkbox", "radio", "switch", "combobox",
  "listbox", "option", "menuitem", "menuitemcheckbox", "menuitemradio", "tab", "treeitem", "color", "date", "time",
  "scrollbar", "gridcell",
]);
const NAMED_BY_CONTENT = new Set([
  "button", "link", "heading", "option", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "checkbox", "radio",
  "switch", "treeitem", "tooltip", "columnheader", "rowheader",
]);
const NAMED_BY_PLAIN_CONTENT = new Set(["cell", "gridcell", "listitem", "term", "definition", "status", "alert", "label"]);
const NEEDS_NAME = new Set(["form", "region", "img", "group"]);
const CONTROLS = "a[href],button,input,select,textarea,[role],[tabindex],[onclick],[contenteditable],summary,iframe,label";

const clean = (text) => text.replace(/\s+/g, " ").trim();
const tagOf = (element) => element.tagName.toUpperCase();

function roleOf(element) {
  const given = element.getAttribute("role");
  if (given) return given.trim().split(/\s+/)[0].toLowerCase();
  const tag = tagOf(element);
  if (tag === "A") return element.hasAttribute("href") ? "link" : "";
  if (tag === "INPUT") return INPUTS[element.type] ?? (element.list ? "combobox" : "textbox");
  if (tag === "SELECT") return element.multiple || element.size > 1 ? "listbox" : "combobox";
  if (tag === "TH" && element.scope === "row") return "rowheader";
  const role = TAGS[tag] ?? "";
  if (!role && element.isContentEditable && !element.parentElement?.isContentEditable) return "textbox";
  return role;
}

function isShown(element) {
  return element.getAttribute("aria-hidden") !== "true" && element.checkVisibility({ visibilityProperty: true });
}

/** The text of what is shown within a node, of at most about `most` characters. */
function contentOf(node, most = TEXT_LIMIT) {
  let text = "";
  for (const child of childrenOf(node)) {
    if (text.length > most) break;
    if (child.nodeType === Node.TEXT_NODE) text += child.data.slice(0, most);
    else if (child.nodeType === Node.ELEMENT_NODE && !SKIPPED.has(tagOf(child)) && isShown(child)) {
      const inner = child.getAttribute("aria-label") || ownName(child) || contentOf(child, most);
      text += isInline(child) ? inner : ` ${inner} `;
    }
  }
  return clean(text).slice(0, most);
}

function isInline(element) {
  return getComputedStyle(element).display.startsWith("inline");
}

/** What an element's own attributes call it. */
function ownName(element) {
  const tag = tagOf(element);
  if (tag === "IMG" || tag === "AREA" || (tag === "INPUT" && element.type === "image")) return element.alt || "";
  if (tag === "INPUT" && ["button", "submit", "reset"].includes(element.type)) {
    return element.value || { submit: "Submit", reset: "Reset" }[element.type] || "";
  }
  if (tag === "SVG") return element.querySelector(":scope > title")?.textContent || "";
  return "";
}

const FIRST_CHILD = { FIELDSET: "LEGEND", TABLE: "CAPTION", FIGURE: "FIGCAPTION", DETAILS: "SUMMARY" };

function nameOf(element, role) {
  const by = element.getAttribute("aria-labelledby");
  if (by) {
    const root = element.getRootNode();
    const parts = by.split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean);
    const name = clean(parts.map((part) => part.getAttribute("aria-label") || contentOf(part)).join(" "));
    if (name) return name;
  }
  const said = element.getAttribute("aria-label");
  if (said && said.trim()) return clean(said);
  if (element.labels?.length) {
    const name = clean([...element.labels].map((label) => contentOf(label)).join(" "));
    if (name) return name;
  }
  const own = ownName(element);
  if (own) return clean(own);
  const titled = FIRST_CHILD[tagOf(element)];
  const first = titled && [...element.children].find((child) => tagOf(child) === titled);
  if (first) return contentOf(first);
  if (NAMED_BY_CONTENT.has(role) && tagOf(element) !== "INPUT") {
    const name = contentOf(element);
    if (name) return name;
  }
  return clean(element.getAttribute("title") || element.getAttribute("placeholder") || element.getAttribute("aria-placeholder") || "");
}

function valueOf(element, role) {
  const tag = tagOf(element);
  if (tag === "INPUT") {
    if (["button", "submit", "reset", "image", "checkbox", "radio"].includes(element.type)) return "";
    if (element.type === "password") return "•".repeat(element.value.length);
    return element.value;
  }
  if (tag === "TEXTAREA") return element.value;
  if (tag === "SELECT") return [...element.selectedOptions].map((option) => clean(option.label)).join(", ");
  if (tag === "PROGRESS" || tag === "METER") return String(element.value);
  if (role === "textbox" && element.isContentEditable) return contentOf(element);
  return element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow") || "";
}

function statesOf(element, role, focused) {
  const states = [];
  const says = (name) => element.getAttribute(`aria-${name}`);
  if (element === focused) states.push("focused");
  if (element.matches(":disabled") || says("disabled") === "true") states.push("disabled");
  if (element.indeterminate || says("checked") === "mixed") states.push("mixed");
  else if (element.checked || says("checked") === "true") states.push("checked");
  if (element.selected || says("selected") === "true") states.push("selected");
  if (says("pressed") === "true") states.push("pressed");
  if (says("current") && says("current") !== "false") states.push("current");
  if (says("expanded") === "true" || (tagOf(element) === "SUMMARY" && element.parentElement?.open)) states.push("expanded");
  else if (says("expanded") === "false" || tagOf(element) === "SUMMARY") states.push("collapsed");
  if (element.readOnly && role !== "checkbox" && role !== "radio") states.push("readonly");
  if (element.required || says("required") === "true") states.push("required");
  if (says("invalid") === "true") states.push("invalid");
  if (element.multiple && role === "listbox") states.push("multiple");
  if (element.getAttribute("draggable") === "true") states.push("draggable");
  return states;
}
