/** Tools that list and apply coupons. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { cents, day, label, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { totalFields } from "./cartState.ts";
import { findCouponProblem, computeCartTotals, ShoppingState } from "./state.ts";

const tool = createToolFactory(ShoppingState);

export const couponTools = {
  list_coupons: tool({
    effect: "read",
    summary:
      "List the customer's coupons with what each takes off, from which amount, until when, and whether the cart as it is can use it.",
    input: {
      title: label("coupon").optional().describe("Only coupons whose title contains this"),
      usable: z.boolean().optional().describe("True for only those that the cart can use now"),
    },
    returns: {
      coupons: z.array(
        z.object({
          title: label("coupon"),
          code: spokenId("coupon"),
          minimum: cents(),
          expires: day(),
          status: z.enum(["usable", "used", "expired", "not_usable_yet"]),
        }),
      ),
    },
    run(state, { title, usable }, { now }) {
      const today = now.slice(0, 10);
      const rows = Object.values(state.coupons).map(it => {
        const status = it.used
          ? "used"
          : it.expires < today
            ? "expired"
            : findCouponProblem(state, it, today)
              ? "not_usable_yet"
              : "usable";
        return {
          title: it.title,
          code: it.code,
          minimum: it.minimum,
          expires: it.expires,
          status,
        } as const;
      });
      return {
        coupons: rows.filter(
          it =>
            (!title || containsText(it.title, title)) &&
            (usable === undefined || (it.status === "usable") === usable),
        ),
      };
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
      const replaced =
        state.cart.coupon === undefined ? {} : { replaced: state.coupons[state.cart.coupon]!.code };
      state.cart.coupon = key;
      return {
        title: coupon.title,
        code: coupon.code,
        ...computeCartTotals(state, now.slice(0, 10)),
        ...replaced,
      };
    },
  }),
};
