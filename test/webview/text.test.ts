/** Formatting of texts and numbers on the pages. */
import { expect, test } from "vitest";
import {
  formatCount,
  formatDuration,
  formatFixed,
  formatPercent,
  escapeInvisible,
} from "../../webview/text.ts";

test("invisible characters are escaped", () => {
  expect(escapeInvisible("a\u202eb\u0000c\u200bd\ne")).toBe("a⟨U+202E⟩b⟨U+0000⟩c⟨U+200B⟩d⏎e");
  expect(escapeInvisible("plain – 日本 🎉")).toBe("plain – 日本 🎉");
});

test("numbers are formatted with fixed decimals and units", () => {
  expect(formatFixed(-0.1234)).toBe("−0.123");
  expect(formatFixed(-0.0001)).toBe("0.000");
  expect(formatFixed(1.3, 4)).toBe("1.3000");
  expect(formatPercent(0.5625)).toBe("56.3%");
  expect([formatCount(1, "call"), formatCount(2, "call")]).toEqual(["1 call", "2 calls"]);
  expect([formatDuration(5), formatDuration(185)]).toEqual(["5 s", "3 min 05 s"]);
});
