/** Elements in one call. Text always goes in as text, so nothing that is typed becomes markup. */

const PROPERTIES = new Set(["checked", "selected", "indeterminate", "value", "className"]);
const SVG = "http://www.w3.org/2000/svg";

/**
 * An element.
 *
 * @param tag Its name, with classes after dots: `button.primary`.
 * @param attributes Attributes, properties, and listeners (`onclick`); null, undefined and false are left out.
 * @param children Nodes, texts and lists of them; null, undefined and false are left out.
 */
export function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  node.append(...present(children));
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (PROPERTIES.has(key)) node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  return node;
}

/** A line drawing of 24 by 24 units, hidden from the accessibility tree. */
export function drawing(path, className = "icon") {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 24 24", class: className, "aria-hidden": "true" })) {
    svg.setAttribute(key, value);
  }
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
