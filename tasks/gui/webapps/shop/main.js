/** Hearthside, a shop for the home. */

import { h } from "/common/dom.js";
import { form } from "/common/forms.js";
import { link, run } from "/common/page.js";
import { account, address } from "./account.js";
import { basket, wishlist } from "./basket.js";
import { categories, home, search } from "./catalogue.js";
import { checkout } from "./checkout.js";
import { order, orders, sendBack } from "./orders.js";
import { product } from "./product.js";

const pages = { home, search, product, basket, wishlist, checkout, orders, order, return: sendBack, account, address };

function frame({ state, query, path, go }, body) {
  const pieces = Object.values(state.basket.lines).reduce((sum, { quantity }) => sum + quantity, 0);
  const at = (target) => (target === path[0] ? "page" : null);
  const entry = (target, text) => h("a", { href: link(target), "aria-current": at(target) }, text);
  return [
    h(
      "header.top",
      null,
      h("a.brand", { href: "#/" }, "Hearthside"),
      form(
        { role: "search" },
        ({ q }) => go(link("search", { q })),
        h("input", { id: "find", name: "q", type: "search", "aria-label": "Search products", placeholder: "Search products", value: query.q ?? "" }),
        h("button", null, "Search"),
      ),
      h(
        "nav",
        { "aria-label": "Customer" },
        entry("orders", "Orders"),
        entry("wishlist", `Wishlist (${Object.keys(state.wishlist).length})`),
        entry("account", "Account"),
        entry("basket", `Basket (${pieces})`),
      ),
    ),
    h(
      "nav.categories",
      { "aria-label": "Categories" },
      categories(state).map((name) => h("a", { href: link("search", { category: name }) }, name)),
    ),
    h("main", null, body),
  ];
}

await run({ name: "Hearthside", pages, frame });
