/** Rewards as text with the decimals of the setting. */
import { afterEach, expect, test } from "vitest";
import {
  formatReward,
  formatRewardChange,
  setRewardDecimals,
} from "../../../src/editor/shared/rewardText.ts";

afterEach(() => setRewardDecimals(3));

test("rewards have three decimals unless the setting says otherwise", () => {
  expect(formatReward(1.05)).toBe("1.050");
  expect(formatRewardChange(-0.5)).toBe("−0.500");
  setRewardDecimals(1);
  expect(formatReward(1.05)).toBe("1.1");
  expect(formatRewardChange(0.5)).toBe("+0.5");
  expect(formatRewardChange(0.01)).toBe("±0");
});

test.each([0, 9, 1.5, "many", undefined])("a settings file with %j has no effect", value => {
  setRewardDecimals(value);
  expect(formatReward(1)).toBe("1.000");
});
