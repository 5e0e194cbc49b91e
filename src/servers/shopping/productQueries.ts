/** Tools that list categories and search, show and compare products. */
import { z } from "zod";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { addDays } from "../../environment/time.ts";
import { limit, productRow, productId, createRowFactory } from "./parameters.ts";
import { wasDelivered } from "./reviewTools.ts";
import { findProduct, createRatingLookup, ShoppingState } from "./state.ts";

const tool = createToolFactory(ShoppingState);

export const productQueries = {
  list_categories: tool({
    effect: "read",
    summary:
      "List the shop's categories with how many products each has, all of them or only those whose name contains some words.",
    input: {
      name: label("category").optional().describe("Only categories whose name contains this"),
    },
    returns: {
      categories: z.array(
        z.object({ category: label("category"), category_id: id("category"), products: z.int() }),
      ),
    },
    run: ({ categories, products }, { name }) => ({
      categories: Object.entries(categories)
        .filter(([, it]) => !name || containsText(it.name, name))
        .map(([category_id, it]) => ({
          category: it.name,
          category_id,
          products: Object.values(products).filter(
            row => row.category_id === category_id && row.status === "active",
          ).length,
        })),
    }),
  }),
  search_products: tool({
    effect: "read",
    summary:
      "Find products by words of their name or brand, category, price or rating. Discontinued ones are left out unless their name is asked for.",
    input: {
      name: label("product").optional().describe("Only products whose name or brand contains this"),
      category_id: id("category")
        .optional()
        .describe("Only products of this category, as shopping_list_categories gives it"),
      max_price: z
        .number()
        .min(1)
        .max(10_000)
        .optional()
        .describe("Only products that cost at most this much")
        .meta({ examples: [10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 150, 200] }),
      min_rating: z
        .number()
        .min(1)
        .max(5)
        .optional()
        .describe("Only products rated at least this well")
        .meta({ examples: [3, 3.5, 4, 4.5] }),
      in_stock: z.boolean().optional().describe("True for only those that can be had now"),
      sort: z
        .enum(["price_low", "price_high", "rating", "name"])
        .optional()
        .describe(
          "Cheapest, dearest or best rated first, or by name; the shop's own order if not given",
        ),
      limit,
    },
    returns: { products: z.array(z.object(productRow)) },
    run(state, { name, category_id, max_price, min_rating, in_stock, sort, limit = 10 }) {
      if (category_id)
        findEntity(
          state.categories,
          category_id,
          "category",
          "shopping_list_categories gives the ids",
        );
      const matches = Object.entries(state.products).filter(
        ([, it]) =>
          (name ? containsText(`${it.name} ${it.brand}`, name) : it.status === "active") &&
          (!category_id || it.category_id === category_id) &&
          (max_price === undefined || it.price <= max_price),
      );
      const rows = matches
        .map(([product_id]) => product_id)
        .map(createRowFactory(state))
        .filter(
          it =>
            (!in_stock || it.in_stock) &&
            (min_rating === undefined || (it.rating ?? 0) >= min_rating),
        );
      const order = {
        price_low: (it: (typeof rows)[number]) => it.price,
        price_high: (it: (typeof rows)[number]) => -it.price,
        rating: (it: (typeof rows)[number]) => -(it.rating ?? 0),
      };
      if (sort === "name") rows.sort((a, b) => (a.product < b.product ? -1 : 1));
      else if (sort) rows.sort((a, b) => order[sort](a) - order[sort](b));
      return { products: rows.slice(0, limit) };
    },
  }),
  get_product: tool({
    effect: "read",
    summary:
      "Get one product in full: brand, category, price, features, rating, how many one order may have and whether it can be sent back.",
    input: { product_id: productId },
    returns: {
      product: label("product"),
      product_id: id("product"),
      brand: z.string(),
      category: label("category"),
      category_id: id("category"),
      price: cents(),
      status: z.string(),
      features: z.record(z.string(), z.string()),
      rating: z.number().optional(),
      reviews: z.int(),
      most_per_order: z.int(),
      returnable: z.boolean(),
      bought_before: z.boolean().describe("Whether the customer has had it delivered"),
    },
    run(state, { product_id }) {
      const it = findProduct(state, product_id);
      const rating = createRatingLookup(state.reviews)(product_id);
      return {
        product: it.name,
        product_id,
        brand: it.brand,
        category: state.categories[it.category_id]!.name,
        category_id: it.category_id,
        price: it.price,
        status: it.status,
        features: it.features,
        ...(rating === undefined ? {} : { rating }),
        reviews: Object.values(state.reviews).filter(row => row.product_id === product_id).length,
        most_per_order: it.limit,
        returnable: it.returnable,
        bought_before: wasDelivered(state, product_id),
      };
    },
  }),
  compare_products: tool({
    effect: "read",
    summary:
      "Put two to four products side by side: price, rating, stock, features; and which is cheapest and which is rated best.",
    input: {
      product_ids: z
        .array(id("product"))
        .min(2)
        .max(4)
        .describe("Product ids, as shopping_search_products gives them"),
    },
    returns: {
      products: z.array(z.object({ ...productRow, features: z.record(z.string(), z.string()) })),
      cheapest: z.string(),
      best_rated: z.string().optional(),
    },
    run(state, { product_ids }) {
      if (new Set(product_ids).size < product_ids.length)
        refuse("invalid_params", "product_ids names a product twice", "name each product once");
      const row = createRowFactory(state);
      const rows = product_ids.map(it => {
        const { features } = findProduct(state, it);
        return { ...row(it), features };
      });
      const cheapest = rows.reduce((a, b) => (b.price < a.price ? b : a));
      const best = rows
        .filter(it => it.rating !== undefined)
        .reduce<(typeof rows)[number] | undefined>(
          (a, b) => (a && a.rating! >= b.rating! ? a : b),
          undefined,
        );
      return {
        products: rows,
        cheapest: cheapest.product,
        ...(best ? { best_rated: best.product } : {}),
      };
    },
  }),
  check_stock: tool({
    effect: "read",
    summary:
      "Check whether a quantity of a product can be had now, and when it would arrive by standard and by express delivery.",
    input: {
      product_id: productId,
      quantity: z
        .int()
        .min(1)
        .max(99)
        .optional()
        .describe("How many, 1 if not given")
        .meta({ examples: [1, 2, 3, 4, 5, 6, 8, 10] }),
    },
    returns: {
      product: label("product"),
      product_id: id("product"),
      stock: z.int(),
      available: z.boolean(),
      standard: day().optional(),
      express: day().optional(),
      restock: day().optional(),
    },
    run(state, { product_id, quantity = 1 }, { now }) {
      const { name, stock, status, restock } = findProduct(state, product_id);
      if (status === "discontinued")
        refuse(
          "precondition_failed",
          `${name} (${product_id}) is no longer sold`,
          "shopping_get_recommendations finds something like it",
        );
      const available = stock >= quantity;
      return {
        product: name,
        product_id,
        stock,
        available,
        ...(available
          ? { standard: addDays(now, 4), express: addDays(now, 1) }
          : restock
            ? { restock }
            : {}),
      };
    },
  }),
  get_recommendations: tool({
    effect: "read",
    summary:
      "Get products to buy instead of a product or along with it: others of its category that can be had now, best rated first.",
    input: {
      product_id: productId,
      max_price: z
        .number()
        .min(1)
        .max(10_000)
        .optional()
        .describe("Only products that cost at most this much")
        .meta({ examples: [15, 20, 25, 30, 40, 50, 75, 100] }),
      limit,
    },
    returns: { products: z.array(z.object(productRow)) },
    run(state, { product_id, max_price, limit = 10 }) {
      const { category_id } = findProduct(state, product_id);
      const similar = Object.entries(state.products).filter(
        ([key, it]) =>
          key !== product_id &&
          it.category_id === category_id &&
          it.status === "active" &&
          it.stock > 0 &&
          (max_price === undefined || it.price <= max_price),
      );
      const rows = similar.map(([key]) => key).map(createRowFactory(state));
      return { products: rows.sort((a, b) => (b.rating ?? 0) - (a.rating ?? 0)).slice(0, limit) };
    },
  }),
};
