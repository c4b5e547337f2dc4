// A clipboard of this episode's own, as chromium has one for all its contexts. What is copied is kept from chromium's
// and told to us, and a paste takes what we are told. Images and formatted text are left out.
let copied = null;
let pasting = false;
const listened = new WeakSet();

function selectedText(target) {
  const view = target.ownerDocument ?? target;
  const field = view.activeElement;
  if (field && typeof field.selectionStart === "number" && field.type !== "password") {
    return field.value.slice(field.selectionStart, field.selectionEnd);
  }
  return view.getSelection()?.toString() ?? "";
}

function onCopy(event) {
  const given = event.defaultPrevented ? event.clipboardData?.getData("text/plain") : selectedText(event.target);
  if (given) copied = given;
  const cuts = event.type === "cut" && !event.defaultPrevented && given;
  event.clipboardData?.clearData();
  event.preventDefault();
  if (cuts) (event.target.ownerDocument ?? event.target).execCommand("delete");
}

function onKey(event) {
  const key = event.key.toLowerCase();
  const pastes = (key === "v" && (event.ctrlKey || event.metaKey)) || (key === "insert" && event.shiftKey);
  if (!pastes || event.altKey) return;
  pasting = !event.defaultPrevented;
  event.preventDefault();
}

/** Hear what is copied and pasted in this frame and those that it reaches; the ids of frames that it does not reach. */
function listen(root = document, foreign = []) {
  const view = root.defaultView;
  if (!view) return foreign;
  if (!listened.has(view)) {
    listened.add(view);
    view.addEventListener("copy", onCopy);
    view.addEventListener("cut", onCopy);
    view.addEventListener("keydown", onKey);
  }
  for (const frame of root.querySelectorAll("iframe,frame")) {
    const inner = documentIn(frame);
    if (inner) listen(inner, foreign);
    else foreign.push(idOf(frame));
  }
  return foreign;
}

/** After the keys of a paste: whether `text` is still to be put in, as no handler of the page took it. */
function paste(text) {
  if (!pasting) return false;
  pasting = false;
  const target = focusedElement() ?? document.body;
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { bubbles: true, cancelable: true, composed: true, clipboardData: data });
  return Boolean(target) && target.dispatchEvent(event) && text !== "";
}
