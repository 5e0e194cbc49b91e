/** Parameters and row shapes that several tools of the shop share. */
import { z } from "zod";
import { cents, id, label, rowLimit } from "../../environment/fieldSchemas.ts";
import { type ShoppingState, createRatingLookup } from "./state.ts";

export const productId = id("product").describe("Product id, as shopping_search_products gives it");

export const limit = rowLimit(10);

export const productRow = {
  product: label("product"),
  product_id: id("product"),
  price: cents(),
  rating: z.number().optional().describe("Mean of all reviews, 1 to 5"),
  in_stock: z.boolean(),
};

/** Creates a function that returns the row of a product. */
export const createRowFactory = (state: ShoppingState) => {
  const getRating = createRatingLookup(state.reviews);
  return (product_id: string) => {
    const it = state.products[product_id]!;
    const rating = getRating(product_id);
    return {
      product: it.name,
      product_id,
      price: it.price,
      ...(rating === undefined ? {} : { rating }),
      in_stock: it.stock > 0 && it.status === "active",
    };
  };
};
