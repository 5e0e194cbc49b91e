/** Text and numbers as the pages show them. */
import { expect, test } from "vitest";
import { counted, duration, fixed, percent, visible } from "../../webview/text.ts";

test("nothing hides in text from outside", () => {
  expect(visible("a\u202eb\u0000c\u200bd\ne")).toBe("a␛202eb␛0000c␛200bd⏎e");
  expect(visible("plain – 日本 🎉")).toBe("plain – 日本 🎉");
});

test("numbers line up", () => {
  expect(fixed(-0.1234)).toBe("−0.123");
  expect(fixed(-0.0001)).toBe("0.000");
  expect(fixed(1.3, 4)).toBe("1.3000");
  expect(percent(0.5625)).toBe("56.3 %");
  expect([counted(1, "call"), counted(2, "call")]).toEqual(["1 call", "2 calls"]);
  expect([duration(5), duration(185)]).toEqual(["5 s", "3 min 05 s"]);
});
