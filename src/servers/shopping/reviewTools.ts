/** Tools that show and add reviews. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { limit } from "./parameters.ts";
import { createRatingLookup, getOrderStatus, products, ShoppingState } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(ShoppingState);

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
      return omitUndefined({ product: name, product_id, rating, reviews });
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
