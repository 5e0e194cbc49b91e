/** Parameters of the tools for orders. */
import { id } from "../../environment/fieldSchemas.ts";

export const orderId = id("order").describe("Order id, as food_delivery_list_orders gives it");

export const stages = ["placed", "preparing", "on the way", "delivered", "cancelled"] as const;
