/** Rewards as text, with the decimals that the editor is set to. */
import { formatChange } from "../../reward/breakdownText.ts";

let decimals = 3;

export const getRewardDecimals = (): number => decimals;

/** Sets the decimals; a settings file may have a value that is none. */
export function setRewardDecimals(value: unknown): void {
  const number = Number(value);
  decimals = Number.isInteger(number) && number >= 1 && number <= 8 ? number : 3;
}

export const formatReward = (reward: number): string => reward.toFixed(decimals);

/** A change of a reward with its sign. */
export const formatRewardChange = (change: number): string => formatChange(change, decimals);
