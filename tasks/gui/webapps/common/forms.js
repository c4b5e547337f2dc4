/** Forms: fields with labels, and faults that are shown beside the field they are of. */

import { h } from "./dom.js";

/**
 * A labelled field.
 *
 * @param label What it is called.
 * @param name Of its value in the form.
 * @param options `type` (as `input`, or `select`, `textarea`, `checkbox`), `value`, `choices` (texts or
 *   `[value, text]`), `hint`, and attributes of the control.
 */
export function field(label, name, { type = "text", value = "", choices = [], hint = "", ...attributes } = {}) {
  const id = `field-${name}`;
  const shared = { id, name, "aria-describedby": hint ? `${id}-hint` : null, ...attributes };
  const fault = h("p.fault", { id: `${id}-fault`, role: "alert", hidden: true });
  const note = hint && h("p.hint", { id: `${id}-hint` }, hint);
  if (type === "checkbox") {
    const box = h("input", { ...shared, type, checked: Boolean(value) });
    return h("div.field.check", null, h("label", { for: id }, box, label), note, fault);
  }
  return h("div.field", null, h("label", { for: id }, label), control(type, value, choices, shared), note, fault);
}

function control(type, value, choices, shared) {
  if (type === "select") return h("select", { ...shared, value: value || null }, choices.map(option));
  if (type === "textarea") return h("textarea", { rows: 4, ...shared, value });
  return h("input", { autocomplete: "off", ...shared, type, value });
}

/** An option of a list: a text, or a value and its text. */
export function option(choice) {
  const [value, text] = Array.isArray(choice) ? choice : [choice, choice];
  return h("option", { value }, text);
}

/** One of several, as radio buttons; `choices` are `[value, text]`. */
export function radios(legend, name, choices, chosen) {
  const buttons = choices.map(([value, text]) =>
    h("label.radio", null, h("input", { type: "radio", name, value, checked: value === chosen }), text),
  );
  const fault = h("p.fault", { id: `field-${name}-fault`, role: "alert", hidden: true });
  return h("fieldset", null, h("legend", null, legend), buttons, fault);
}

/**
 * A form.
 *
 * @param attributes Of the element.
 * @param send Called with the values by name. Returns faults by name, which are shown, or nothing.
 */
export function form(attributes, send, ...children) {
  const submit = (event) => {
    event.preventDefault();
    show(event.target, send(values(event.target), event.submitter) ?? {});
  };
  return h("form", { novalidate: true, ...attributes, onsubmit: submit }, children);
}

function values(element) {
  const found = Object.fromEntries([...new FormData(element)].map(([name, value]) => [name, value.trim()]));
  for (const box of element.querySelectorAll("input[type=checkbox][name]")) found[box.name] = box.checked;
  return found;
}

function show(element, faults) {
  for (const place of element.querySelectorAll(".fault")) {
    const name = place.id.replace(/^field-|-fault$/g, "");
    place.textContent = faults[name] ?? "";
    place.hidden = !faults[name];
    element.querySelector(`[name="${name}"]`)?.toggleAttribute("aria-invalid", Boolean(faults[name]));
  }
  const first = Object.keys(faults)[0];
  if (first) element.querySelector(`[name="${first}"]`)?.focus();
}

/** Faults of those of `wanted` (name to what it is called) that are empty. */
export function required(given, wanted) {
  const empty = Object.entries(wanted).filter(([name]) => !given[name]);
  return Object.fromEntries(empty.map(([name, label]) => [name, `${label} is missing.`]));
}

/** Whether a text looks like an address of a mailbox. */
export function isEmail(text) {
  return /^[^\s@,;]+@[^\s@,;]+\.[^\s@,;]+$/.test(text);
}

/** Ask before something that cannot be undone; `act` is called on consent. */
export function confirmed(question, verb, act) {
  const close = () => dialog.remove();
  const agree = () => {
    close();
    act();
  };
  const dialog = h(
    "dialog",
    { "aria-label": question, onclose: close },
    h("p", null, question),
    h("div.actions", null, h("button.danger", { onclick: agree }, verb), h("button", { onclick: close }, "Cancel")),
  );
  document.body.append(dialog);
  dialog.showModal();
}
