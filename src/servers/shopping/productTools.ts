/** Tools that search, show and compare products, and tools for their reviews and the wish list. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, rowTotal } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { addDays } from "../../environment/time.ts";
import { contains } from "../kit/table.ts";
import {
  limit,
  quantity,
  categories,
  createRatingLookup,
  products,
  requireActive,
  ShoppingState,
  type Product,
  getOrderStatus,
} from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(ShoppingState);

const maxPrice = z
  .number()
  .min(1)
  .max(10_000)
  .optional()
  .describe("Only products that cost at most this much");

const productRow = {
  product: label("product"),
  product_id: id("product"),
  price: cents(),
  rating: z.number().optional().describe("Mean of all reviews, 1 to 5"),
  in_stock: z.boolean(),
};
type ProductRow = z.output<z.ZodObject<typeof productRow>>;

/** Creates a function that returns the row of a product. */
function createRowFactory(state: ShoppingState) {
  const getRating = createRatingLookup(state.reviews);
  return ([product_id, it]: readonly [string, Product]): ProductRow =>
    omitUndefined({
      product: it.name,
      product_id,
      price: it.price,
      rating: getRating(product_id),
      in_stock: it.stock > 0 && it.status === "active",
    });
}

export const productQueries = {
  list_categories: categories.list({
    summary:
      "List the shop's categories with how many products each has, all of them or only those whose name contains some words.",
    filters: {
      name: contains(label("category"), "Only categories whose name contains this", it => it.name),
    },
    row: {
      category: [label("category"), it => it.name],
      category_id: categories.idField,
      products: [
        z.int(),
        (_, { id: categoryId, world }) =>
          Object.values(world.products).filter(
            it => it.category_id === categoryId && it.status === "active",
          ).length,
      ],
    },
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
      max_price: maxPrice.meta({ examples: [10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 150, 200] }),
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
    returns: { total: rowTotal("products"), products: z.array(z.object(productRow)) },
    run(state, { name, category_id, max_price, min_rating, in_stock, sort, limit = 10 }) {
      if (category_id) categories.find(state, category_id);
      const matches = Object.entries(state.products).filter(
        ([, it]) =>
          (name ? containsText(`${it.name} ${it.brand}`, name) : it.status === "active") &&
          (!category_id || it.category_id === category_id) &&
          (max_price === undefined || it.price <= max_price),
      );
      const rows = matches
        .map(createRowFactory(state))
        .filter(
          it =>
            (!in_stock || it.in_stock) &&
            (min_rating === undefined || (it.rating ?? 0) >= min_rating),
        );
      const order = {
        price_low: (it: ProductRow) => it.price,
        price_high: (it: ProductRow) => -it.price,
        rating: (it: ProductRow) => -(it.rating ?? 0),
      };
      if (sort === "name") rows.sort((a, b) => (a.product < b.product ? -1 : 1));
      else if (sort) rows.sort((a, b) => order[sort](a) - order[sort](b));
      return { total: rows.length, products: rows.slice(0, limit) };
    },
  }),
  get_product: products.get({
    summary:
      "Get one product in full: brand, category, price, features, rating, how many one order may have and whether it can be sent back.",
    row: {
      product: [label("product"), it => it.name],
      product_id: products.idField,
      brand: z.string(),
      category: [label("category"), (it, { world }) => world.categories[it.category_id]!.name],
      category_id: id("category"),
      price: cents(),
      status: z.string(),
      features: z.record(z.string(), z.string()),
      rating: [
        z.number().optional(),
        (_, { id: productId, world }) => createRatingLookup(world.reviews)(productId),
      ],
      reviews: [
        z.int(),
        (_, { id: productId, world }) =>
          Object.values(world.reviews).filter(it => it.product_id === productId).length,
      ],
      most_per_order: [z.int(), it => it.limit],
      returnable: z.boolean(),
      bought_before: [
        z.boolean().describe("Whether the customer has had it delivered"),
        (_, { id: productId, world }) => wasDelivered(world, productId),
      ],
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
        const product = products.find(state, it);
        return { ...row([it, product]), features: product.features };
      });
      const cheapest = rows.reduce((a, b) => (b.price < a.price ? b : a));
      const best = rows
        .filter(it => it.rating !== undefined)
        .reduce<ProductRow | undefined>((a, b) => (a && a.rating! >= b.rating! ? a : b), undefined);
      return omitUndefined({
        products: rows,
        cheapest: cheapest.product,
        best_rated: best?.product,
      });
    },
  }),
  check_stock: tool({
    effect: "read",
    summary:
      "Check whether a quantity of a product can be had now, and when it would arrive by standard and by express delivery.",
    input: {
      product_id: products.id,
      quantity: quantity
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
      const product = products.find(state, product_id);
      const { name, stock, restock } = product;
      requireActive(product_id, product);
      const available = stock >= quantity;
      return omitUndefined({
        product: name,
        product_id,
        stock,
        available,
        standard: available ? addDays(now, 4) : undefined,
        express: available ? addDays(now, 1) : undefined,
        restock: available ? undefined : restock,
      });
    },
  }),
  get_recommendations: tool({
    effect: "read",
    summary:
      "Get products to buy instead of a product or along with it: others of its category that can be had now, best rated first.",
    input: {
      product_id: products.id,
      max_price: maxPrice.meta({ examples: [15, 20, 25, 30, 40, 50, 75, 100] }),
      limit,
    },
    returns: { total: rowTotal("products"), products: z.array(z.object(productRow)) },
    run(state, { product_id, max_price, limit = 10 }) {
      const { category_id } = products.find(state, product_id);
      const similar = Object.entries(state.products).filter(
        ([key, it]) =>
          key !== product_id &&
          it.category_id === category_id &&
          it.status === "active" &&
          it.stock > 0 &&
          (max_price === undefined || it.price <= max_price),
      );
      const rows = similar.map(createRowFactory(state));
      rows.sort((a, b) => (b.rating ?? 0) - (a.rating ?? 0));
      return { total: rows.length, products: rows.slice(0, limit) };
    },
  }),
};

const stars = z.int().min(1).max(5);

export const reviewTools = {
  get_reviews: tool({
    effect: "read",
    summary: "Read what customers think of a product, newest first, with the mean of their stars.",
    input: {
      product_id: products.id,
      stars: stars
        .optional()
        .describe("Only reviews with exactly this many stars")
        .meta({ examples: [1, 2, 3, 4, 5] }),
      limit,
    },
    returns: {
      product: label("product"),
      product_id: id("product"),
      rating: z.number().optional(),
      total: rowTotal("reviews"),
      reviews: z.array(
        z.object({
          title: label("review"),
          review_id: id("review"),
          author: z.string(),
          stars: z.int(),
          text: z.string(),
          date: day(),
        }),
      ),
    },
    run(state, { product_id, stars, limit = 10 }) {
      const { name } = products.find(state, product_id);
      const rating = createRatingLookup(state.reviews)(product_id);
      const matches = Object.entries(state.reviews).filter(
        ([, it]) => it.product_id === product_id && (stars === undefined || it.stars === stars),
      );
      matches.sort(([a, x], [b, y]) =>
        x.date === y.date ? (a < b ? 1 : -1) : x.date < y.date ? 1 : -1,
      );
      const reviews = matches.slice(0, limit).map(([review_id, it]) => ({
        title: it.title,
        review_id,
        author: it.author,
        stars: it.stars,
        text: it.text,
        date: it.date,
      }));
      return omitUndefined({ product: name, product_id, rating, total: matches.length, reviews });
    },
  }),
  add_review: tool({
    effect: "write",
    summary:
      "Publish the customer's own review of a product that was delivered to them, once for each product.",
    input: {
      product_id: products.id,
      stars: stars.describe("1 is worst, 5 is best").meta({ examples: [1, 2, 3, 4, 5] }),
      title: z
        .string()
        .min(2)
        .max(80)
        .describe("The review in a few words")
        .meta({ examples: vocabulary.titles }),
      text: z
        .string()
        .min(2)
        .max(500)
        .optional()
        .describe("The review in full")
        .meta({ examples: vocabulary.texts }),
    },
    returns: {
      title: label("review"),
      review_id: id("review"),
      product: z.string(),
      rating: z.number().describe("The product's mean with this review"),
    },
    run(state, { product_id, stars, title, text = "" }, { now, newId }) {
      const { name } = products.find(getOriginal(state), product_id);
      if (!wasDelivered(getOriginal(state), product_id))
        refuse(
          "permission_denied",
          `${name} (${product_id}) is in none of your delivered orders, and only what was delivered can be reviewed`,
          "shopping_list_orders with status delivered shows what can be reviewed",
        );
      const existing = Object.entries(getOriginal(state).reviews).find(
        ([, it]) => it.product_id === product_id && it.author === state.customer,
      );
      if (existing)
        refuse(
          "conflict",
          `you have reviewed ${name} already, on ${existing[1].date}: ${existing[1].title}`,
          "review another product",
        );
      const review_id = newId("rev");
      state.reviews[review_id] = {
        product_id,
        author: state.customer,
        stars,
        title,
        text,
        date: now.slice(0, 10),
      };
      return {
        title,
        review_id,
        product: name,
        rating: createRatingLookup(state.reviews)(product_id)!,
      };
    },
  }),
};

export const wasDelivered = ({ orders }: ShoppingState, product: string) =>
  Object.values(orders).some(
    it =>
      getOrderStatus(it) === "delivered" &&
      Object.values(it.items).some(item => item.product_id === product),
  );

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
      total: rowTotal("products"),
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
        total: matches.length,
        products: matches.sort((a, b) =>
          a.added === b.added ? (a.product < b.product ? -1 : 1) : a.added < b.added ? 1 : -1,
        ),
      };
    },
  }),
};
