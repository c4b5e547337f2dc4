/** A product's page: its variants, the way into the basket, its reviews. */

import { longDate } from "/common/dates.js";
import { h } from "/common/dom.js";
import { field, form, radios, required } from "/common/forms.js";
import { link } from "/common/page.js";
import { list, nextId } from "/common/store.js";
import { addLine, money, priceOf, stars } from "./model.js";
import { picture } from "./pictures.js";

export function product(context) {
  const { state, path } = context;
  const id = path[1];
  const shown = state.products[id];
  if (!shown) return { title: "No such product", body: h("h1", null, "There is no such product") };
  return {
    title: shown.name,
    body: [
      h("nav.crumbs", { "aria-label": "Breadcrumb" }, h("a", { href: link("search", { category: shown.category }) }, shown.category)),
      h(
        "div.product",
        null,
        picture(shown, "large"),
        h(
          "section",
          null,
          h("h1", null, shown.name),
          h("p.quiet", null, `by ${shown.brand} · ${stars(shown.rating)} from ${shown.ratings} ratings`),
          h("p", null, shown.text),
          h("ul.details", null, shown.details.map((text) => h("li", null, text))),
          h("p.quiet", null, shown.stock ? `${shown.stock} in stock` : "Sold out"),
          purchase(context, id, shown),
        ),
      ),
      reviews(context, id),
    ],
  };
}

function purchase({ store, state, say }, id, shown) {
  const price = h("p.price.large", { "aria-live": "polite" }, money(shown.price));
  const update = (event) => {
    const given = Object.fromEntries(new FormData(event.currentTarget));
    price.textContent = money(priceOf(shown, given));
  };
  const add = ({ quantity, ...options }) => {
    const count = Number(quantity);
    if (!Number.isInteger(count) || count < 1) return { quantity: "Give a whole number from 1 on." };
    const missing = required(options, Object.fromEntries(shown.options.map(({ name }) => [name, name])));
    if (Object.keys(missing).length) return missing;
    if (count > shown.stock) return { quantity: `Only ${shown.stock} in stock.` };
    store.change((draft) => addLine(draft, id, options, count));
    say(`${count} × ${shown.name} added to your basket.`);
  };
  const wished = id in state.wishlist;
  const wish = () => {
    store.change((draft) => {
      if (wished) delete draft.wishlist[id];
      else draft.wishlist[id] = draft.clock.slice(0, 10);
    });
    say(wished ? `${shown.name} removed from your wishlist.` : `${shown.name} saved to your wishlist.`);
  };
  return form(
    { oninput: update },
    add,
    shown.options.map((option) => field(option.name, option.name, { type: "select", choices: choices(option) })),
    field("Quantity", "quantity", { inputmode: "numeric", value: "1", class: "short" }),
    price,
    h(
      "div.actions",
      null,
      h("button.primary", { disabled: !shown.stock }, "Add to basket"),
      h("button", { type: "button", onclick: wish }, wished ? "Remove from wishlist" : "Add to wishlist"),
    ),
  );
}

function choices({ name, values, extra, soldOut }) {
  const offered = values.filter((value) => !soldOut.includes(value));
  const text = (value) => (extra[value] ? `${value} (+${money(extra[value])})` : value);
  return [["", `Choose ${name.toLowerCase()}`], ...offered.map((value) => [value, text(value)])];
}

function reviews({ store, state, say }, id) {
  const written = list(state.reviews).filter((review) => review.product === id);
  written.sort((a, b) => b.date.localeCompare(a.date));
  const send = ({ stars: count, title, text }) => {
    const faults = required({ stars: count, title }, { stars: "A number of stars", title: "A headline" });
    if (Object.keys(faults).length) return faults;
    store.change((draft) => {
      const [author, date] = [draft.profile.name, draft.clock.slice(0, 10)];
      draft.reviews[nextId(draft.reviews, "r")] = { product: id, stars: Number(count), title, text, author, date };
    });
    say("Thank you, your review is published.");
  };
  const counts = [5, 4, 3, 2, 1].map((count) => [String(count), count === 1 ? "1 star" : `${count} stars`]);
  return h(
    "section",
    { "aria-label": "Reviews" },
    h("h2", null, `Reviews (${written.length})`),
    written.map((review) =>
      h(
        "article.card",
        null,
        h("strong", null, review.title),
        h("div.quiet", null, `${"★".repeat(review.stars)} · ${review.author}, ${longDate(review.date)}`),
        h("p", null, review.text),
      ),
    ),
    h(
      "details",
      null,
      h("summary", null, "Write a review"),
      form(
        { "aria-label": "Write a review" },
        send,
        radios("Rating", "stars", counts),
        field("Headline", "title"),
        field("Review", "text", { type: "textarea" }),
        h("button.primary", null, "Publish review"),
      ),
    ),
  );
}
