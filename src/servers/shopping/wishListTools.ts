/** Tools for the wish list. */
import { z } from "zod";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { products, requireActive, ShoppingState } from "./state.ts";

const tool = createToolFactory(ShoppingState);

export const wishListTools = {
  add_to_wishlist: tool({
    effect: "write",
    summary:
      "Remember a product on the wish list, with what it costs today. Sold out ones can be kept there too.",
    input: { product_id: products.id },
    returns: {
      product: label("product"),
      product_id: id("product"),
      price: cents(),
      wishes: z.int().describe("How many products the wish list has now"),
    },
    run(state, { product_id }, { now }) {
      const product = products.find(state, product_id);
      const { name, price } = product;
      const n = Object.keys(state.wishes).length;
      requireActive(product_id, product);
      if (Object.hasOwn(state.wishes, product_id))
        refuse(
          "conflict",
          `${name} is on the wish list already, since ${state.wishes[product_id]!.added}`,
        );
      if (n >= state.terms.most_wishes)
        refuse(
          "limit_exceeded",
          `the wish list is full with ${n} products`,
          "shopping_add_to_cart takes a product off it",
        );
      state.wishes[product_id] = { added: now.slice(0, 10), price };
      return { product: name, product_id, price, wishes: n + 1 };
    },
  }),
  get_wishlist: tool({
    effect: "read",
    summary:
      "Show the wish list, last added first: what each product costs now and when it was added, and whether it can be had.",
    input: {
      product: label("product").optional().describe("Only products whose name contains this"),
      cheaper: z
        .boolean()
        .optional()
        .describe("True for only those that cost less than when they were added"),
    },
    returns: {
      products: z.array(
        z.object({
          product: label("product"),
          product_id: id("product"),
          price: cents(),
          price_then: cents(),
          added: day(),
          in_stock: z.boolean(),
        }),
      ),
    },
    run({ wishes, products }, { product, cheaper }) {
      const rows = Object.entries(wishes).map(([product_id, it]) => {
        const { name, price, stock, status } = products[product_id]!;
        return {
          product: name,
          product_id,
          price,
          price_then: it.price,
          added: it.added,
          in_stock: stock > 0 && status === "active",
        };
      });
      const matches = rows.filter(
        it =>
          (!product || containsText(it.product, product)) &&
          (cheaper === undefined || it.price < it.price_then === cheaper),
      );
      return {
        products: matches.sort((a, b) =>
          a.added === b.added ? (a.product < b.product ? -1 : 1) : a.added < b.added ? 1 : -1,
        ),
      };
    },
  }),
};
