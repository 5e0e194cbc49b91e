/** Long results are shortened to valid JSON within the budget that says how much is missing. */
import { expect, test } from "vitest";
import { excerptJson } from "../../src/trajectory/excerpt.ts";

const words = (n: number) => "x".repeat(n);

test.each([
  ["what fits is whole", { a: [1, 2, 3] }, 40, `{"a":[1,2,3]}`, false],
  [
    "a list loses its last items",
    { rows: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], total: 20 },
    54,
    `{"rows":[1,2,3,4,5,"… (15 more left out)"],"total":20}`,
    true,
  ],
  [
    "a value that nothing can shorten is counted",
    Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`key${i}`, i])),
    60,
    `{"left_out":"82 characters"}`,
    true,
  ],
])("%s", (_, value, budget, text, truncated) => {
  const shown = excerptJson(value, budget);
  expect(shown).toEqual({ text, truncated });
  expect(shown.text.length).toBeLessThanOrEqual(budget);
});

test("long strings are shortened before lists", () => {
  const { text } = excerptJson({
    path: "/home/ana/notes.txt",
    content: words(20_000),
    tags: ["a", "b"],
  });
  const shown = JSON.parse(text) as { path: string; content: string; tags: string[] };
  expect(shown.path).toBe("/home/ana/notes.txt");
  expect(shown.tags).toEqual(["a", "b"]);
  const kept = /^x+/.exec(shown.content)![0].length;
  expect(kept).toBeGreaterThan(8_000);
  expect(shown.content).toBe(`${words(kept)}… (${20_000 - kept} more characters left out)`);
  expect(text.length).toBeLessThanOrEqual(8_192);
});

test("as many complete rows as fit are kept", () => {
  const rows = Array.from({ length: 500 }, (_, i) => ({ id: `row_${i}`, note: words(100) }));
  const { text, truncated } = excerptJson({ rows });
  const shown = (JSON.parse(text) as { rows: unknown[] }).rows;
  expect(truncated).toBe(true);
  expect(text.length).toBeGreaterThan(7_800);
  expect(shown.slice(0, -1)).toEqual(rows.slice(0, shown.length - 1));
  expect(shown.at(-1)).toBe(`… (${501 - shown.length} more left out)`);
});

test("long strings in a long list are shortened together with the list", () => {
  const { text } = excerptJson({
    mails: Array.from({ length: 40 }, (_, i) => ({ id: `msg_${i}`, body: words(9_000) })),
  });
  const shown = JSON.parse(text) as { mails: (string | { id: string; body: string })[] };
  expect(text.length).toBeLessThanOrEqual(8_192);
  expect(shown.mails.length).toBeGreaterThan(5);
  expect(shown.mails[0]).toEqual({
    id: "msg_0",
    body: `${words(1_000)}… (8000 more characters left out)`,
  });
});

test("a surrogate pair is not split", () => {
  expect(excerptJson("😀".repeat(60), 64)).toEqual({
    text: expect.stringMatching(/^"(😀)+… \(\d+ more characters left out\)"$/u),
    truncated: true,
  });
  expect(excerptJson("x" + "😀".repeat(60), 64)).toEqual({
    text: expect.stringMatching(/^"x(😀)+… \(\d+ more characters left out\)"$/u),
    truncated: true,
  });
});
