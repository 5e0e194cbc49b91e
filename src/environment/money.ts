/** Sums in whole cents, which binary fractions lose sight of. */

/** The nearest whole cent. */
export const round = (amount: number): number => Math.round(amount * 100) / 100;

export const sum = (amounts: readonly number[]): number =>
  round(amounts.reduce((total, it) => total + it, 0));
