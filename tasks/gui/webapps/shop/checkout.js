/** The checkout: where to, how, and how it is paid. */

import { h } from "/common/dom.js";
import { field, form, radios, required } from "/common/forms.js";
import { link } from "/common/page.js";
import { nextId } from "/common/store.js";
import { amounts } from "./basket.js";
import { basketLines, chosen, DELIVERIES, FREE_FROM, money, totals } from "./model.js";

export function checkout({ store, state, go }) {
  const lines = basketLines(state);
  if (!lines.length) return { title: "Checkout", body: [h("h1", null, "Checkout"), h("p", null, "Your basket is empty.")] };
  const sums = h("div", { "aria-live": "polite" }, amounts(totals(state, "standard")));
  const update = (event) => {
    const delivery = new FormData(event.currentTarget).get("delivery") ?? "standard";
    sums.replaceChildren(amounts(totals(state, delivery)));
  };
  const send = (given) => {
    const wanted = { address: "An address", delivery: "A delivery", payment: "A way to pay" };
    const faults = required(given, wanted);
    if (given.payment === "newcard") Object.assign(faults, cardFaults(given, state.clock));
    if (!given.terms) faults.terms = "Please accept the terms.";
    if (Object.keys(faults).length) return faults;
    const id = store.change((draft) => place(draft, given));
    go(link("order", id), `Thank you! Your order ${id.slice(1)} is placed.`);
  };
  return {
    title: "Checkout",
    body: [
      h("h1", null, "Checkout"),
      form(
        { class: "columns right", oninput: update },
        send,
        h(
          "div",
          null,
          radios("Deliver to", "address", addresses(state), state.profile.address),
          radios("Delivery", "delivery", deliveries()),
          payment(state),
          field("Note for the courier (optional)", "note", { type: "textarea", rows: 2 }),
          field("I accept the terms of sale", "terms", { type: "checkbox" }),
        ),
        h(
          "aside.card",
          { "aria-label": "Order" },
          h("ul.plain", null, lines.map((line) => h("li", null, `${line.quantity} × ${line.name}`, h("div.quiet", null, chosen(line.options))))),
          sums,
          h("button.primary", null, "Place order"),
        ),
      ),
    ],
  };
}

function addresses(state) {
  return Object.entries(state.addresses).map(([id, { label, name, street, postcode, city }]) => [
    id,
    `${label}: ${name}, ${street}, ${postcode} ${city}`,
  ]);
}

function deliveries() {
  return Object.entries(DELIVERIES).map(([id, { label, price }]) => {
    const costs = price ? money(price) : "free";
    return [id, `${label} (${id === "standard" ? `${costs}, free from ${money(FREE_FROM)}` : costs})`];
  });
}

function payment(state) {
  const cards = Object.entries(state.cards).map(([id, { label }]) => [id, label]);
  return h(
    "div",
    null,
    radios("Payment", "payment", [...cards, ["invoice", "Invoice, due in 14 days"], ["newcard", "Another card"]]),
    h(
      "details",
      null,
      h("summary", null, "Details of another card"),
      field("Card number", "number", { inputmode: "numeric" }),
      h("div.row", null, field("Expiry (MM/YY)", "expiry"), field("Security code", "code", { inputmode: "numeric" })),
    ),
  );
}

function cardFaults({ number, expiry, code }, clock) {
  const faults = {};
  if (!/^\d{16}$/.test(number.replaceAll(" ", ""))) faults.number = "A card number has 16 digits.";
  const [, month, year] = /^(0[1-9]|1[0-2])\/(\d\d)$/.exec(expiry) ?? [];
  if (!month) faults.expiry = "Write it as MM/YY.";
  else if (`20${year}-${month}` < clock.slice(0, 7)) faults.expiry = "This card has expired.";
  if (!/^\d{3}$/.test(code)) faults.code = "The code has three digits.";
  return faults;
}

function place(draft, { address, delivery, payment: way, note, number }) {
  const id = nextId(draft.orders, "o");
  const lines = basketLines(draft).map(({ key, ...line }) => line);
  draft.orders[id] = {
    placed: draft.clock.slice(0, 10),
    status: "Processing",
    delivered: null,
    lines,
    address: { ...draft.addresses[address] },
    delivery,
    payment: way === "newcard" ? `card ending in ${number.slice(-4)}` : way,
    coupon: draft.basket.coupon,
    note,
    ...totals(draft, delivery),
  };
  for (const { product, quantity } of lines) draft.products[product].stock -= quantity;
  draft.basket = { lines: {}, coupon: null };
  return id;
}
