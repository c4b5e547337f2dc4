/** The home page, and lists of products with search, filters and an order. */

import { h } from "/common/dom.js";
import { field, form } from "/common/forms.js";
import { link } from "/common/page.js";
import { list } from "/common/store.js";
import { money, stars } from "./model.js";
import { picture } from "./pictures.js";

const ORDERS = {
  name: ["Name", (a, b) => a.name.localeCompare(b.name)],
  cheap: ["Price: low to high", (a, b) => a.price - b.price],
  dear: ["Price: high to low", (a, b) => b.price - a.price],
  rating: ["Customer rating", (a, b) => b.rating - a.rating],
  newest: ["Newest first", (a, b) => b.added.localeCompare(a.added)],
};

export function categories(state) {
  return [...new Set(Object.values(state.products).map((product) => product.category))];
}

/** A product as a card in a list. */
export function tile(product) {
  const varied = product.options.some(({ extra }) => Object.keys(extra).length);
  return h(
    "li.tile",
    null,
    picture(product),
    h("a.name", { href: link("product", product.id) }, product.name),
    h("div.quiet", null, `${product.brand} · ${stars(product.rating)} (${product.ratings})`),
    h("div.price", null, varied ? "from " : "", money(product.price)),
    product.stock ? null : h("span.tag.warn", null, "Sold out"),
  );
}

export function home({ state }) {
  const newest = list(state.products).sort(ORDERS.newest[1]).slice(0, 5);
  const links = categories(state).map((name) => h("a.button", { href: link("search", { category: name }) }, name));
  return {
    title: "Home",
    body: [
      h("section.hero", null, h("h1", null, "Things that make a house a home"), h("div.actions", null, links)),
      h("h2", null, "New in"),
      h("ul.tiles.plain", null, newest.map(tile)),
      h("p.quiet", null, "Free standard delivery from €60. Returns within 30 days of delivery."),
    ],
  };
}

export function search({ state, query, go }) {
  const found = list(state.products).filter((product) => fits(product, query));
  found.sort((ORDERS[query.sort] ?? ORDERS.name)[1]);
  const reorder = (event) => go(link("search", { ...query, sort: event.target.value }));
  const orders = Object.entries(ORDERS).map(([value, [text]]) => [value, text]);
  const title = query.q ? `Results for “${query.q}”` : (query.category ?? "All products");
  return {
    title,
    body: h(
      "div.columns",
      null,
      filters(state, query, go),
      h(
        "section",
        null,
        h("h1", null, title),
        h(
          "div.toolbar",
          null,
          h("span", null, found.length === 1 ? "1 product" : `${found.length} products`),
          field("Sort by", "sort", { type: "select", choices: orders, value: query.sort ?? "name", onchange: reorder }),
        ),
        h("ul.tiles.plain", null, found.map(tile)),
      ),
    ),
  };
}

function fits(product, { q = "", category, least, most, rating, stock }) {
  const text = `${product.name} ${product.brand} ${product.category} ${product.text}`.toLowerCase();
  return (
    q.toLowerCase().split(" ").every((word) => text.includes(word)) &&
    (!category || product.category === category) &&
    (!least || product.price >= Number(least)) &&
    (!most || product.price <= Number(most)) &&
    (!rating || product.rating >= Number(rating)) &&
    (!stock || product.stock > 0)
  );
}

function filters(state, query, go) {
  const ratings = [["", "Any"], ["4", "4.0 and up"], ["4.5", "4.5 and up"]];
  const apply = ({ stock, ...chosen }) => go(link("search", { ...query, ...chosen, stock: stock ? "1" : "" }));
  return h(
    "aside",
    { "aria-label": "Filters" },
    h("h2", null, "Filters"),
    form(
      null,
      apply,
      field("Category", "category", {
        type: "select",
        choices: [["", "All"], ...categories(state)],
        value: query.category ?? "",
      }),
      h(
        "div.row",
        null,
        field("Price from", "least", { inputmode: "decimal", value: query.least }),
        field("Price to", "most", { inputmode: "decimal", value: query.most }),
      ),
      field("Rating", "rating", { type: "select", choices: ratings, value: query.rating ?? "" }),
      field("In stock only", "stock", { type: "checkbox", value: query.stock }),
      h("div.actions", null, h("button.primary", null, "Apply"), h("a", { href: link("search") }, "Clear filters")),
    ),
  );
}
