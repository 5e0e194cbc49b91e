/** Amounts of money in whole cents, which binary fractions cannot represent exactly. */

/** The nearest whole cent. */
export const roundToCents = (amount: number): number => Math.round(amount * 100) / 100;

export const sumAmounts = (amounts: readonly number[]): number =>
  roundToCents(amounts.reduce((total, it) => total + it, 0));
