/** Prices of insurance, and what it refunds when the customer cancels. */
import { roundToCents } from "../../environment/amounts.ts";
import type { FlightBooking } from "./state.ts";

type Insurance = NonNullable<FlightBooking["insurance"]>;

/** Lowest price, share of the price of the booking, and share that is refunded, by cover. */
const coverRules = {
  basic: { minPrice: 6, priceShare: 0.04, refundShare: 0 },
  plus: { minPrice: 12, priceShare: 0.09, refundShare: 0.8 },
} as const;

export function computePremium(cover: Insurance["cover"], paid: number): number {
  const { minPrice, priceShare } = coverRules[cover];
  return roundToCents(Math.max(minPrice, paid * priceShare));
}

/**
 * What the insurance refunds of a booking. It covers the price for which it was bought, not what a
 * later change has added.
 */
export function computeInsuredRefund(insurance: Insurance | undefined, paid: number): number {
  if (!insurance) return 0;
  const { priceShare, refundShare } = coverRules[insurance.cover];
  // the highest price for which the premium rounds to the one that was paid
  const insuredPrice = (insurance.price + 0.005) / priceShare;
  return roundToCents(refundShare * Math.min(paid, insuredPrice));
}
