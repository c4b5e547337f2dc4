/** Orders: their list, one of them, and sending things back. */

import { addDays, longDate } from "/common/dates.js";
import { h } from "/common/dom.js";
import { confirmed, field, form, radios } from "/common/forms.js";
import { link } from "/common/page.js";
import { list, nextId } from "/common/store.js";
import { amounts } from "./basket.js";
import { addLine, chosen, DELIVERIES, money } from "./model.js";

const RETURN_DAYS = 30;
const REASONS = ["Damaged", "Wrong item", "Not as described", "Too large or small", "Changed my mind"];

export function orders({ state }) {
  const rows = list(state.orders)
    .sort((a, b) => b.id.localeCompare(a.id))
    .map(({ id, placed, status, lines, total }) =>
      h(
        "tr",
        { "aria-label": `Order ${id.slice(1)}` },
        h("td", null, h("a", { href: link("order", id) }, `Order ${id.slice(1)}`)),
        h("td", null, longDate(placed)),
        h("td", null, lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(", ")),
        h("td", null, badge(status)),
        h("td.number", null, money(total)),
      ),
    );
  const head = h("tr", null, ["Order", "Placed", "Items", "Status", "Total"].map((text) => h("th", { scope: "col" }, text)));
  return {
    title: "Orders",
    body: [
      h("h1", null, "Your orders"),
      h("div.card", null, h("table.list", { "aria-label": "Orders" }, h("thead", null, head), h("tbody", null, rows))),
    ],
  };
}

function badge(status) {
  return h(status === "Cancelled" ? "span.tag.warn" : "span.tag", null, status);
}

export function order(context) {
  const { state, path } = context;
  const shown = state.orders[path[1]];
  if (!shown) return { title: "No such order", body: h("h1", null, "There is no such order") };
  const { address } = shown;
  const sent = list(state.returns).filter((item) => item.order === path[1]);
  return {
    title: `Order ${path[1].slice(1)}`,
    body: [
      h("nav.crumbs", { "aria-label": "Breadcrumb" }, h("a", { href: link("orders") }, "Orders")),
      h("h1", null, `Order ${path[1].slice(1)} `, badge(shown.status)),
      h(
        "div.columns.right",
        null,
        h(
          "div.card",
          null,
          h("p.quiet", null, `Placed on ${longDate(shown.placed)}${shown.delivered ? `, delivered on ${longDate(shown.delivered)}` : ""}`),
          h("table.list", { "aria-label": "Items" }, h("tbody", null, shown.lines.map(item))),
          sent.map(({ id, reason, lines }) =>
            h("p", null, `Return ${id}: ${lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(", ")} (${reason})`),
          ),
          steps(context, path[1], shown),
        ),
        h(
          "aside.card",
          { "aria-label": "Summary" },
          amounts(shown),
          shown.coupon ? h("p.quiet", null, `Coupon ${shown.coupon}`) : null,
          h("h3", null, "Delivery"),
          h("p", null, DELIVERIES[shown.delivery].label),
          h("p", null, `${address.name}, ${address.street}, ${address.postcode} ${address.city}`),
          shown.note ? h("p.quiet", null, `Note: ${shown.note}`) : null,
          h("h3", null, "Payment"),
          h("p", null, state.cards[shown.payment]?.label ?? shown.payment),
        ),
      ),
    ],
  };
}

function item(line) {
  return h(
    "tr",
    null,
    h("td", null, h("a", { href: link("product", line.product) }, line.name), h("div.quiet", null, chosen(line.options))),
    h("td.number", null, `${line.quantity} × ${money(line.price)}`),
  );
}

function steps({ store, state, say, go }, id, shown) {
  const cancel = () => {
    store.change((draft) => void (draft.orders[id].status = "Cancelled"));
    say(`Order ${id.slice(1)} is cancelled.`);
  };
  const again = () => {
    store.change((draft) => shown.lines.forEach((line) => addLine(draft, line.product, line.options, line.quantity)));
    go(link("basket"), "Everything of that order is in your basket.");
  };
  const open = shown.delivered && addDays(shown.delivered, RETURN_DAYS) >= state.clock.slice(0, 10);
  return h(
    "div.actions",
    null,
    shown.status === "Processing"
      ? h("button.danger", { onclick: () => confirmed(`Cancel order ${id.slice(1)}?`, "Yes, cancel it", cancel) }, "Cancel order")
      : null,
    open ? h("a.button", { href: link("return", id) }, "Return items") : null,
    h("button", { onclick: again }, "Buy again"),
  );
}

export function sendBack({ store, state, path, go }) {
  const id = path[1];
  const { lines } = state.orders[id];
  const send = ({ reason, refund, ...given }) => {
    const faults = {};
    const picked = lines.flatMap((line, at) => {
      const quantity = Number(given[`quantity${at}`]);
      if (!given[`item${at}`]) return [];
      if (!(Number.isInteger(quantity) && quantity >= 1 && quantity <= line.quantity)) {
        faults[`quantity${at}`] = `Give a number from 1 to ${line.quantity}.`;
      }
      return [{ product: line.product, name: line.name, quantity }];
    });
    if (!picked.length) faults.item0 = "Choose at least one item.";
    if (!reason) faults.reason = "A reason is missing.";
    if (!refund) faults.refund = "Choose how you are paid back.";
    if (Object.keys(faults).length) return faults;
    store.change((draft) => {
      const requested = draft.clock.slice(0, 10);
      draft.returns[nextId(draft.returns, "t")] = { order: id, lines: picked, reason, refund, requested };
    });
    go(link("order", id), "Your return is registered. A label is on its way to you by e-mail.");
  };
  const refunds = [["payment", "Back to the card or account"], ["giftcard", "As a gift card"]];
  return {
    title: "Return items",
    body: [
      h("h1", null, `Return items of order ${id.slice(1)}`),
      form(
        { class: "card" },
        send,
        lines.map((line, at) =>
          h(
            "div.row",
            { role: "group", "aria-label": line.name },
            field(`${line.name}${chosen(line.options) ? ` (${chosen(line.options)})` : ""}`, `item${at}`, { type: "checkbox" }),
            field(`How many of ${line.name}`, `quantity${at}`, { inputmode: "numeric", value: String(line.quantity) }),
          ),
        ),
        field("Reason", "reason", { type: "select", choices: [["", "Choose a reason"], ...REASONS] }),
        radios("Refund", "refund", refunds),
        h("button.primary", null, "Send return"),
      ),
    ],
  };
}
