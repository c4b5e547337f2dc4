/** Line drawings that stand for products, one a category. */

import { drawing, h } from "/common/dom.js";

const SHAPES = {
  Lighting: "M8 4h8l3 8H5zM12 12v8M8 20h8",
  Textiles: "M4 6c3-2 5 2 8 0s5 2 8 0v12c-3 2-5-2-8 0s-5-2-8 0zM4 12c3-2 5 2 8 0s5 2 8 0",
  Kitchen: "M5 8h11v7a4 4 0 0 1-4 4H9a4 4 0 0 1-4-4zM16 10h2a2.5 2.5 0 0 1 0 5h-2M8 3v2M12 3v2",
  Furniture: "M6 3v10h12V3M6 8h12M5 13h14M7 13v8M17 13v8",
  Decor: "M9 3h6l-1 5c3 2 4 4 4 7a6 6 0 0 1-12 0c0-3 1-5 4-7z",
  Garden: "M12 21v-9M12 14c-5 0-7-3-7-7 5 0 7 3 7 7zM12 11c0-4 2-6 7-7 0 5-2 7-7 7z",
};

/** The tile that shows a product. */
export function picture(product, size = "") {
  const tile = h(`div.picture.${product.category.toLowerCase()}`, null, drawing(SHAPES[product.category], "shape"));
  if (size) tile.classList.add(size);
  return tile;
}
