/** What the shop reckons: prices of variants, baskets and deliveries. */

export const DELIVERIES = {
  standard: { label: "Standard, 2 to 4 working days", price: 4.9 },
  express: { label: "Express, next working day", price: 9.9 },
  pickup: { label: "Pick up at the store", price: 0 },
};
export const FREE_FROM = 60;

/** Rounded to cents. */
export function cents(amount) {
  return Math.round(amount * 100) / 100;
}

/** `€1,234.50`. */
export function money(amount) {
  return `€${amount.toLocaleString("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** What one piece costs with the chosen options. */
export function priceOf(product, options) {
  return product.options.reduce((price, { name, extra }) => price + (extra[options[name]] ?? 0), product.price);
}

/** `Moss, 50 x 50 cm`. */
export function chosen(options) {
  return Object.values(options).join(", ");
}

/** Key of a line of the basket: one for each product and variant. */
export function lineKey(product, options) {
  return [product, ...Object.values(options)].join("/");
}

/** Put pieces into the basket, onto a line that is there already. */
export function addLine(state, product, options, quantity) {
  const key = lineKey(product, options);
  const before = state.basket.lines[key]?.quantity ?? 0;
  state.basket.lines[key] = { product, options, quantity: before + quantity };
}

/** The basket's lines with name and price, as an order keeps them. */
export function basketLines(state) {
  return Object.entries(state.basket.lines).map(([key, line]) => {
    const product = state.products[line.product];
    return { key, name: product.name, price: priceOf(product, line.options), ...line };
  });
}

/** Why a coupon is no good for the basket; empty where it is. */
export function couponFault(state, code) {
  const coupon = state.coupons[code];
  if (!coupon) return `There is no coupon ${code}.`;
  if (coupon.until < state.clock.slice(0, 10)) return `Coupon ${code} ran out on ${coupon.until}.`;
  const worth = discounted(state, coupon);
  if (worth === 0) return `Coupon ${code} is only for ${coupon.category}.`;
  if (worth < coupon.least) return `Coupon ${code} needs at least ${money(coupon.least)} of ${coupon.category}.`;
  return "";
}

function discounted(state, coupon) {
  const lines = basketLines(state).filter(
    ({ product }) => !coupon.category || state.products[product].category === coupon.category,
  );
  return lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
}

/** Subtotal, discount, shipping and total of the basket. */
export function totals(state, delivery) {
  const subtotal = basketLines(state).reduce((sum, line) => sum + line.price * line.quantity, 0);
  const code = state.basket.coupon;
  const coupon = code && !couponFault(state, code) ? state.coupons[code] : null;
  const discount = coupon ? cents((discounted(state, coupon) * coupon.percent) / 100) : 0;
  const free = delivery === "standard" && subtotal - discount >= FREE_FROM;
  const shipping = free ? 0 : DELIVERIES[delivery].price;
  return { subtotal: cents(subtotal), discount, shipping, total: cents(subtotal - discount + shipping) };
}

/** Stars as text, such as `4.6 of 5`. */
export function stars(rating) {
  return `★ ${rating.toFixed(1)}`;
}
