/** Tools that list and apply coupons. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, label, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { contains, meets, type RowContext } from "../kit/table.ts";
import { totalFields } from "./parameters.ts";
import {
  computeCartTotals,
  coupons,
  findCouponProblem,
  ShoppingState,
  type Coupon,
} from "./state.ts";

const tool = createToolFactory(ShoppingState);

function getStatus(coupon: Coupon, { world, now }: RowContext<ShoppingState>) {
  const today = now.slice(0, 10);
  if (coupon.used) return "used";
  if (coupon.expires < today) return "expired";
  return findCouponProblem(world, coupon, today) ? "not_usable_yet" : "usable";
}

export const couponTools = {
  list_coupons: coupons.list({
    summary:
      "List the customer's coupons with what each takes off, from which amount, until when, and whether the cart as it is can use it.",
    filters: {
      title: contains(label("coupon"), "Only coupons whose title contains this", it => it.title),
      usable: meets(
        z.boolean(),
        "True for only those that the cart can use now",
        (it, usable, context) => (getStatus(it, context) === "usable") === usable,
      ),
    },
    row: {
      title: label("coupon"),
      code: spokenId("coupon"),
      minimum: cents(),
      expires: day(),
      status: [z.enum(["usable", "used", "expired", "not_usable_yet"]), getStatus],
    },
  }),
  apply_coupon: tool({
    effect: "write",
    summary:
      "Use a coupon for the cart, by its code. It takes the place of the one that the cart has.",
    idempotent: true,
    input: {
      code: spokenId("coupon").describe(
        "Code of the coupon, as it stands on it or as shopping_list_coupons gives it",
      ),
    },
    returns: {
      title: label("coupon"),
      code: spokenId("coupon"),
      ...totalFields,
      replaced: z.string().optional().describe("Code of the coupon that came off"),
    },
    run(state, { code }, { now }) {
      const match = Object.entries(getOriginal(state).coupons).find(
        ([, it]) => it.code === code.trim().toUpperCase(),
      );
      if (!match)
        return refuse(
          "not_found",
          `there is no coupon ${code}`,
          "shopping_list_coupons gives the codes",
        );
      const [key, coupon] = match;
      if (state.cart.coupon === key)
        refuse(
          "conflict",
          `the cart has coupon ${coupon.code} already`,
          "shopping_get_cart shows what it takes off",
        );
      const problem = findCouponProblem(getOriginal(state), coupon, now.slice(0, 10));
      if (problem) refuse(...problem);
      const previous = state.cart.coupon;
      state.cart.coupon = key;
      return omitUndefined({
        title: coupon.title,
        code: coupon.code,
        ...computeCartTotals(state, now.slice(0, 10)),
        replaced: previous === undefined ? undefined : state.coupons[previous]!.code,
      });
    },
  }),
};
