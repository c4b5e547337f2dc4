/**
 * The application's document: read once, changed by functions, saved in order.
 *
 * A change shows at once and is saved behind. Where another tab saved first, the document is read again and the changes
 * that were not saved yet are made on it once more.
 */

const token = document.querySelector('meta[name="store-token"]').content;
const headers = { "content-type": "application/json", "x-store-token": token };
const tabs = new BroadcastChannel("store");

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
    await store.#read();
    tabs.onmessage = () => store.#refresh();
    globalThis.store = store;
    return store;
  }

  /** Call `show` after every change, here or in another tab. */
  watch(show) {
    this.#shown = show;
  }

  /** Change the state by `edit(state)`; returns what that returns. */
  change(edit) {
    const result = edit(this.state);
    this.#derive(this.state);
    this.#edits.push(edit);
    this.#saving = this.#saving.then(() => this.#save());
    this.#shown();
    return result;
  }

  /** Resolves once everything is saved. */
  settled() {
    return this.#saving;
  }

  async #read() {
    const reply = await fetch("/state", { headers });
    this.#adopt(await reply.json());
  }

  #adopt({ version, state }) {
    this.#version = version;
    this.state = state;
    this.#saved = Object.fromEntries(Object.entries(state).map(([part, value]) => [part, JSON.stringify(value)]));
  }

  async #refresh() {
    await this.#saving;
    await this.#read();
    this.#shown();
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

  #replay(document) {
    this.#adopt(document);
    for (const edit of this.#edits) edit(this.state);
    this.#derive(this.state);
    this.#shown();
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
