/** Tools that show and add reviews. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { limit, productId } from "./parameters.ts";
import { Shop, productOf, ratingsOf, statusOf } from "./state.ts";

const tool = createToolFactory(Shop);

const stars = z.int().min(1).max(5);

export const reviewTools = {
  get_reviews: tool({
    effect: "read",
    summary: "Read what customers think of a product, newest first, with the mean of their stars.",
    input: {
      product_id: productId,
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
    run(shop, { product_id, stars: exactly, limit: most = 10 }) {
      const { name } = productOf(shop, product_id);
      const rating = ratingsOf(shop.reviews)(product_id);
      const found = Object.entries(shop.reviews).filter(
        ([, it]) => it.product_id === product_id && (exactly === undefined || it.stars === exactly),
      );
      found.sort(([a, x], [b, y]) =>
        x.date === y.date ? (a < b ? 1 : -1) : x.date < y.date ? 1 : -1,
      );
      const reviews = found.slice(0, most).map(([review_id, it]) => ({
        title: it.title,
        review_id,
        author: it.author,
        stars: it.stars,
        text: it.text,
        date: it.date,
      }));
      return { product: name, product_id, ...(rating === undefined ? {} : { rating }), reviews };
    },
  }),
  add_review: tool({
    effect: "write",
    summary:
      "Publish the customer's own review of a product that was delivered to them, once for each product.",
    input: {
      product_id: productId,
      stars: stars.describe("1 is worst, 5 is best").meta({ examples: [1, 2, 3, 4, 5] }),
      title: z
        .string()
        .min(2)
        .max(80)
        .describe("The review in a few words")
        .meta({
          examples: [
            "My honest opinion",
            "After a month of use",
            "First impressions",
            "What I think of it",
            "After daily use",
            "A short review",
            "Used every weekend",
            "Half a year later",
            "Bought for my kitchen table",
            "How it holds up",
          ],
        }),
      text: z
        .string()
        .min(2)
        .max(500)
        .optional()
        .describe("The review in full")
        .meta({
          examples: [
            "I have had it for three weeks now.",
            "Measure your space before you order.",
            "Delivery was on time, the box was large.",
            "I use it on most days.",
            "I bought it after reading many reviews.",
            "It looks as it does in the pictures.",
            "My first one was a gift.",
            "The manual is short, which I like.",
          ],
        }),
    },
    returns: {
      title: label("review"),
      review_id: id("review"),
      product: z.string(),
      rating: z.number().describe("The product's mean with this review"),
    },
    run(shop, { product_id, stars: given, title, text = "" }, { now, newId }) {
      const { name } = productOf(getOriginal(shop), product_id);
      if (!wasBought(getOriginal(shop), product_id))
        refuse(
          "permission_denied",
          `${name} (${product_id}) is in none of your delivered orders, and only what was delivered can be reviewed`,
          "shopping_list_orders with status delivered shows what can be reviewed",
        );
      const known = Object.entries(getOriginal(shop).reviews).find(
        ([, it]) => it.product_id === product_id && it.author === shop.customer,
      );
      if (known)
        refuse(
          "conflict",
          `you have reviewed ${name} already, on ${known[1].date}: ${known[1].title}`,
          "review another product",
        );
      const review_id = newId("rev");
      shop.reviews[review_id] = {
        product_id,
        author: shop.customer,
        stars: given,
        title,
        text,
        date: now.slice(0, 10),
      };
      return { title, review_id, product: name, rating: ratingsOf(shop.reviews)(product_id)! };
    },
  }),
};

export const wasBought = ({ orders }: Shop, product: string) =>
  Object.values(orders).some(
    it =>
      statusOf(it) === "delivered" &&
      Object.values(it.items).some(item => item.product_id === product),
  );
