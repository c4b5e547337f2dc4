// The elements that an agent may care about, in the order in which they stand in the page, across frames and open shadow
// roots. Runs in a world of its own that may reach into every frame, so a page neither sees nor disturbs it.
// Left out: closed shadow roots, and whether a transform turns or scales a frame.
const TEXT_LIMIT = 200;
const OPTION_LIMIT = 100;
const SKIPPED = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "HEAD", "META", "LINK", "TITLE", "DEFS", "OPTION", "OPTGROUP", "DATALIST"]);
const BIG_DOCUMENT = 20000;
const LONG_LIST = 500;

/** A text of at most TEXT_LIMIT characters: how a long one begins and ends. */
const bothEnds = (text) => (text.length <= TEXT_LIMIT ? text : `${text.slice(0, TEXT_LIMIT - 60)} … ${text.slice(-57)}`);

const known = new Map();
const ids = new WeakMap();
let nextId = 1;

function idOf(node) {
  let id = ids.get(node);
  if (!id) {
    id = String(nextId++);
    ids.set(node, id);
    known.set(id, new WeakRef(node));
  }
  return id;
}

function* childrenOf(node) {
  if (node.shadowRoot) yield* node.shadowRoot.childNodes;
  else if (node.tagName === "SLOT" && node.assignedNodes().length) yield* node.assignedNodes();
  else yield* node.childNodes;
}

function documentIn(frame) {
  try {
    return frame.contentDocument;
  } catch {
    return null;
  }
}

/** Where a frame's content begins, in its parent's coordinates. */
function frameOrigin(frame) {
  const rect = frame.getBoundingClientRect();
  const style = getComputedStyle(frame);
  const inside = (side) => parseFloat(style[`padding${side}`]) || 0;
  return [rect.left + frame.clientLeft + inside("Left"), rect.top + frame.clientTop + inside("Top")];
}

/** The focused element, within frames and shadow roots. */
function focusedElement(root = document) {
  const element = root.activeElement;
  if (!element || element === root.body || element === root.documentElement) return null;
  if (element.shadowRoot) return focusedElement(element.shadowRoot) ?? element;
  const inner = /^I?FRAME$/.test(element.tagName) ? documentIn(element) : null;
  return inner ? focusedElement(inner) ?? element : element;
}

const intersect = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];

class Walk {
  constructor(most, milliseconds, scale) {
    this.scale = scale;
    this.out = [];
    this.foreign = [];
    this.most = most;
    this.until = performance.now() + milliseconds;
    this.full = false;
    this.partial = false;
    this.run = null;
    this.focused = focusedElement();
    this.prunes = document.getElementsByTagName("*").length > BIG_DOCUMENT;
  }

  isFull() {
    if (!this.full) this.full = this.out.length >= this.most || performance.now() > this.until;
    return this.full;
  }

  add(node, role, name, value, rect, states, depth, at) {
    let box = null;
    if (rect) {
      const [x, y] = [rect.left + at.x, rect.top + at.y];
      const shown = intersect(at.clip, [x, y, x + rect.width, y + rect.height]);
      if (shown[0] >= shown[2] || shown[1] >= shown[3]) states.push("offscreen");
      box = [x, y, rect.width, rect.height].map((length) => Math.round(length * this.scale));
    }
    this.out.push([idOf(node), role, name.slice(0, TEXT_LIMIT), bothEnds(value), box, states, depth]);
  }

  text(node, depth, at) {
    if (this.run) this.run.nodes.push(node);
    else this.run = { nodes: [node], depth, at };
  }

  flush() {
    const run = this.run;
    this.run = null;
    if (!run) return;
    const text = clean(run.nodes.map((node) => node.data).join(""));
    if (!text) return;
    const range = run.nodes[0].ownerDocument.createRange();
    range.setStartBefore(run.nodes[0]);
    range.setEndAfter(run.nodes[0].getRootNode() === run.nodes.at(-1).getRootNode() ? run.nodes.at(-1) : run.nodes[0]);
    const rect = range.getBoundingClientRect();
    if (this.prunes && this.isFar(rect, run.at)) return;
    this.add(run.nodes.find((node) => node.data.trim()), "text", text, "", rect, [], run.depth, run.at);
  }

  children(node, depth, at) {
    const all = this.prunes && node.childElementCount > LONG_LIST ? this.near(node, at) : childrenOf(node);
    for (const child of all) {
      if (this.isFull()) return;
      if (child.nodeType === Node.TEXT_NODE) {
        if (!at.named && at.visible && child.data) this.text(child, depth, at);
      } else if (child.nodeType === Node.ELEMENT_NODE) this.element(child, depth, at);
    }
  }

  /** Of very many children those near what is shown, if they stand one below the other. */
  near(node, at) {
    const all = [...childrenOf(node)];
    const boxes = all.filter((child) => child.nodeType === Node.ELEMENT_NODE);
    const firstWhere = (holds) => {
      let [low, high] = [0, boxes.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (holds(boxes[middle].getBoundingClientRect())) high = middle;
        else low = middle + 1;
      }
      return low < boxes.length ? all.indexOf(boxes[low]) : all.length;
    };
    const first = firstWhere((rect) => rect.bottom + at.y >= -2 * innerHeight);
    const last = firstWhere((rect) => rect.top + at.y > 3 * innerHeight);
    this.partial ||= last - first < all.length;
    return all.slice(Math.max(first - 1, 0), last);
  }

  element(element, depth, at) {
    const tag = tagOf(element);
    if (tag === "BR") return this.flush();
    if (SKIPPED.has(tag) || element.getAttribute("aria-hidden") === "true" || element.inert) return;
    const style = getComputedStyle(element);
    if (style.display === "none" || style.contentVisibility === "hidden") return;
    const inline = style.display.startsWith("inline") || style.display === "contents";
    const rect = element.getBoundingClientRect();
    if (this.prunes && rect.height > 0 && this.isFar(rect, at)) return;
    const inner = { ...at, visible: style.visibility === "visible" };
    const own = style.position === "fixed" ? { ...at, clip: at.frameClip } : at;
    inner.clip = own.clip;
    if (style.overflowX !== "visible" && rect.width && !inline) {
      inner.clip = intersect(inner.clip, [rect.left + at.x, rect.top + at.y, rect.right + at.x, rect.bottom + at.y]);
    }
    inner.pointer = style.cursor === "pointer";
    const shown = inner.visible && this.describe(element, tag, rect, at, inner);
    if (!inline || shown) this.flush();
    const [before, foreign] = [this.out.length, this.foreign.length];
    if (shown) this.emit(element, tag, shown, rect, depth, own);
    this.inside(element, tag, shown ? depth + 1 : depth, inner);
    if (!inline || shown) this.flush();
    if (shown && shown.container && !shown.name && this.out.length === before + 1 && this.foreign.length === foreign) {
      this.out.pop();
    }
  }

  /** What to say of an element: its role and name; null where only its content counts. */
  describe(element, tag, rect, at, inner) {
    let role = roleOf(element);
    if (role === "presentation" || role === "none") role = "";
    if (tag === "LABEL" && element.control && element.control !== element && isShown(element.control)) {
      inner.named = true;
      return null;
    }
    if (!role && SHAPES.has(element.tagName) && element.ownerSVGElement) return this.shape(element);
    const clickable = !role && !at.acted && rect.width > 0 && this.isClickable(element, at, inner);
    if (clickable) role = "generic";
    if (!role) return null;
    const plain = (NAMED_BY_PLAIN_CONTENT.has(role) || clickable) && !element.querySelector(CONTROLS);
    const name = nameOf(element, role) || (plain ? contentOf(element) : "");
    if (NEEDS_NAME.has(role) && !name) return null;
    if (plain || NAMED_BY_CONTENT.has(role)) inner.named = true;
    if (ACTED_ON.has(role) || clickable) inner.acted = true;
    const container = !ACTED_ON.has(role) && !clickable && !LEAVES.has(role);
    return { role, name, container, states: clickable ? ["clickable"] : [] };
  }

  isClickable(element, at, inner) {
    if (element.hasAttribute("onclick") || element.getAttribute("draggable") === "true") return true;
    if (element.hasAttribute("tabindex") && element.tabIndex >= 0) return true;
    return inner.pointer && !at.pointer;
  }

  shape(element) {
    const fill = element.getAttribute("fill") || element.style.fill || "";
    const said = element.getAttribute("aria-label") || element.querySelector(":scope > title")?.textContent;
    const name = said || (element.tagName === "text" ? contentOf(element) : clean(`${element.tagName} ${fill}`));
    return { role: "graphics-symbol", name, container: false, states: [] };
  }

  emit(element, tag, shown, rect, depth, at) {
    const states = [...statesOf(element, shown.role, this.focused), ...shown.states];
    const value = shown.role === "generic" ? "" : valueOf(element, shown.role);
    this.add(element, shown.role, shown.name, value, rect.width || rect.height ? rect : null, states, depth, at);
  }

  inside(element, tag, depth, at) {
    if (tag === "SELECT" || tag === "INPUT" && element.list) return this.options(tag === "SELECT" ? element : element.list, depth, at);
    if (tag === "TEXTAREA" || tag === "INPUT" || tag === "VIDEO" || tag === "AUDIO") return;
    if (tag === "IFRAME" || tag === "FRAME") return this.frame(element, depth, at);
    if (element.isContentEditable && roleOf(element) === "textbox") at.named = true;
    this.children(element, depth, at);
  }

  options(list, depth, at) {
    for (const option of [...list.options].slice(0, OPTION_LIMIT)) {
      if (this.isFull()) return;
      const rect = option.getBoundingClientRect();
      const states = [...(list.tagName === "SELECT" && option.selected ? ["selected"] : []), ...(option.disabled ? ["disabled"] : [])];
      this.add(option, "option", clean(option.label || option.value), "", rect.height ? rect : null, states, depth, at);
    }
  }

  frame(frame, depth, at) {
    const [x, y] = frameOrigin(frame);
    const clip = intersect(at.clip, [at.x + x, at.y + y, at.x + x + frame.clientWidth, at.y + y + frame.clientHeight]);
    const inner = place(at.x + x, at.y + y, clip);
    const content = documentIn(frame);
    if (content?.documentElement) this.element(content.documentElement, depth, inner);
    else this.foreign.push({ id: idOf(frame), index: this.out.length, depth, x: inner.x, y: inner.y, clip });
  }

  isFar(rect, at) {
    const [top, bottom] = [rect.top + at.y, rect.bottom + at.y];
    const far = bottom < -2 * innerHeight || top > 3 * innerHeight;
    this.partial ||= far;
    return far;
  }
}

const LEAVES = new Set(["img", "canvas", "video", "audio", "embed", "progressbar", "meter", "separator", "heading", "graphics-symbol"]);

const place = (x, y, clip) => ({ x, y, clip, frameClip: clip, named: false, acted: false, pointer: false, visible: true });

/** The elements of this frame and of those that it reaches; `at` is where it lies, if it is not the whole page. */
function look({ first, most, milliseconds, scale, tree, depth = 0, at = null }) {
  nextId = Math.max(nextId, first);
  const focused = focusedElement();
  const role = focused && (roleOf(focused) || "generic");
  const said = focused && { id: idOf(focused), role, name: nameOf(focused, role).slice(0, TEXT_LIMIT) };
  let walk = null;
  if (tree && document.documentElement) {
    walk = new Walk(most, milliseconds, scale);
    const { x, y, clip } = at ?? { x: 0, y: 0, clip: [0, 0, innerWidth, innerHeight] };
    walk.element(document.documentElement, depth, place(x, y, clip));
    walk.flush();
  }
  return {
    elements: walk?.out ?? (tree ? [] : null), foreign: walk?.foreign ?? [], full: Boolean(walk?.full || walk?.partial),
    focused: said, title: document.title.slice(0, TEXT_LIMIT), next: nextId,
  };
}
