/**
 * The application's document: read once, changed by functions, saved in order.
 *
 * A change shows at once and is saved behind. Where another tab saved first, the document is read again and the changes
 * that were not saved yet are made on it once more.
 */

const token = document.querySelector('meta[name="store-token"]').content;
const headers = { "content-type": "application/json", "x-store-token": token };
const tabs = new BroadcastChannel("store");

async function read() {
  const reply = await fetch("/state", { headers });
  return reply.json();
}

function applied(edit, state) {
  try {
    edit(state);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false; // what it changed is gone
    throw error;
  }
}

export class Store {
  state = {};
  #version = 0;
  #saved = {};
  #edits = [];
  #saving = Promise.resolve();
  #derive;
  #shown = () => {};

  /** @param derive Called on the state after every change, for what follows from the rest of it. */
  static async open(derive = () => {}) {
    const store = new Store();
    store.#derive = derive;
    store.#adopt(await read());
    tabs.onmessage = () => {
      store.#saving = store.#saving.then(async () => store.#replay(await read()));
    };
    globalThis.store = store;
    return store;
  }

  /** Call `show(elsewhere)` after every change; `elsewhere` is whether it was made in another tab. */
  watch(show) {
    this.#shown = show;
  }

  /** Change the state by `edit(state)`; returns what that returns. */
  change(edit) {
    const result = edit(this.state);
    this.#derive(this.state);
    this.#edits.push(edit);
    this.#saving = this.#saving.then(() => this.#save());
    this.#shown(false);
    return result;
  }

  /** Resolves once everything is saved. */
  settled() {
    return this.#saving;
  }

  #adopt({ version, state }) {
    this.#version = version;
    this.state = state;
    this.#saved = Object.fromEntries(Object.entries(state).map(([part, value]) => [part, JSON.stringify(value)]));
  }

  async #save() {
    while (this.#edits.length) {
      const count = this.#edits.length;
      const parts = this.#changed();
      if (Object.keys(parts).length) {
        const body = JSON.stringify({ base: this.#version, parts });
        const reply = await fetch("/state", { method: "POST", headers, body });
        const answer = await reply.json();
        if (reply.status === 409) {
          this.#replay(answer);
          continue;
        }
        this.#version = answer.version;
        for (const [part, value] of Object.entries(JSON.parse(body).parts)) this.#saved[part] = JSON.stringify(value);
      }
      this.#edits.splice(0, count);
    }
    tabs.postMessage(this.#version);
  }

  #changed() {
    return Object.fromEntries(
      Object.entries(this.state).filter(([part, value]) => JSON.stringify(value) !== this.#saved[part]),
    );
  }

  /** Take over a newer document, with the changes that were not saved yet made on it once more. */
  #replay(document) {
    this.#adopt(document);
    this.#edits = this.#edits.filter((edit) => applied(edit, this.state));
    this.#derive(this.state);
    this.#shown(true);
  }
}

/** The next id of `things`: the prefix and one more than the highest number there. */
export function nextId(things, prefix) {
  const numbers = Object.keys(things).map((id) => Number(id.slice(prefix.length)) || 0);
  return prefix + String(Math.max(0, ...numbers) + 1);
}

/** The values of an object of objects, each with its key as `id`. */
export function list(things) {
  return Object.entries(things).map(([id, thing]) => ({ ...thing, id }));
}
