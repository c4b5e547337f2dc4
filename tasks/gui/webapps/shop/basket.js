/** The basket and the wishlist. */

import { longDate } from "/common/dates.js";
import { h } from "/common/dom.js";
import { field, form } from "/common/forms.js";
import { link } from "/common/page.js";
import { basketLines, chosen, couponFault, money, totals } from "./model.js";

export function basket(context) {
  const { state } = context;
  const lines = basketLines(state);
  const body = lines.length
    ? [h("h1", null, "Your basket"), h("div.columns.right", null, table(context, lines), summary(context))]
    : [h("h1", null, "Your basket"), h("p", null, "It is empty."), h("a.button", { href: link("search") }, "Browse products")];
  return { title: "Basket", body };
}

function table({ store, state, say }, lines) {
  const update = (line) => (event) => {
    const count = Number(event.target.value);
    const most = state.products[line.product].stock;
    if (!Number.isInteger(count) || count < 1) return say(`${line.name}: give a whole number from 1 on, or remove it.`);
    if (count > most) return say(`${line.name}: only ${most} in stock.`);
    store.change((draft) => void (draft.basket.lines[line.key].quantity = count));
    say("Quantity changed.");
  };
  const remove = (line) => () => {
    store.change((draft) => void delete draft.basket.lines[line.key]);
    say(`${line.name} removed.`);
  };
  const rows = lines.map((line) =>
    h(
      "tr",
      { "aria-label": line.name },
      h("td", null, h("a", { href: link("product", line.product) }, line.name), h("div.quiet", null, chosen(line.options))),
      h("td.number", null, money(line.price)),
      h(
        "td",
        null,
        h("input.short", {
          id: `quantity-${line.key}`,
          "aria-label": `Quantity of ${line.name}`,
          inputmode: "numeric",
          value: String(line.quantity),
          onchange: update(line),
        }),
      ),
      h("td.number", null, money(line.price * line.quantity)),
      h("td", null, h("button.plain", { onclick: remove(line), "aria-label": `Remove ${line.name}` }, "Remove")),
    ),
  );
  const head = h("tr", null, ["Product", "Price", "Quantity", "Total", ""].map((text) => h("th", { scope: "col" }, text)));
  return h("div.card", null, h("table.list", { "aria-label": "Basket" }, h("thead", null, head), h("tbody", null, rows)));
}

function summary({ store, state, say }) {
  const code = state.basket.coupon;
  const apply = ({ coupon }) => {
    const wanted = coupon.toUpperCase();
    const fault = wanted ? couponFault(state, wanted) : "Give a code.";
    if (fault) return { coupon: fault };
    store.change((draft) => void (draft.basket.coupon = wanted));
    say(`Coupon ${wanted} applied.`);
  };
  const drop = () => {
    store.change((draft) => void (draft.basket.coupon = null));
    say("Coupon removed.");
  };
  return h(
    "aside.card",
    { "aria-label": "Summary" },
    amounts(totals(state, "standard")),
    code
      ? h("p", null, `Coupon ${code} `, h("button.plain", { onclick: drop }, "Remove coupon"))
      : form(null, apply, field("Coupon code", "coupon"), h("button", null, "Apply coupon")),
    h("div.actions", null, h("a.button.primary", { href: link("checkout") }, "Go to checkout")),
  );
}

/** Subtotal, discount, shipping and total as a list. */
export function amounts({ subtotal, discount, shipping, total }) {
  const row = (label, amount) => h("div", null, h("dt", null, label), h("dd", null, amount));
  return h(
    "dl.amounts",
    null,
    row("Subtotal", money(subtotal)),
    discount ? row("Discount", `−${money(discount)}`) : null,
    row("Delivery", shipping ? money(shipping) : "free"),
    row("Total", money(total)),
  );
}

export function wishlist({ store, state, say }) {
  const remove = (id) => () => {
    store.change((draft) => void delete draft.wishlist[id]);
    say(`${state.products[id].name} removed from your wishlist.`);
  };
  const rows = Object.entries(state.wishlist).map(([id, since]) => {
    const { name, price, stock } = state.products[id];
    return h(
      "tr",
      { "aria-label": name },
      h("td", null, h("a", { href: link("product", id) }, name)),
      h("td.quiet", null, `saved on ${longDate(since)}`),
      h("td", null, stock ? "In stock" : "Sold out"),
      h("td.number", null, money(price)),
      h("td", null, h("button.plain", { onclick: remove(id), "aria-label": `Remove ${name}` }, "Remove")),
    );
  });
  const table = h("table.list", { "aria-label": "Wishlist" }, h("tbody", null, rows));
  return {
    title: "Wishlist",
    body: [h("h1", null, "Your wishlist"), rows.length ? h("div.card", null, table) : h("p", null, "It is empty.")],
  };
}
