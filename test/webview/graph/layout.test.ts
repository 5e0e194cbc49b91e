/** Where the tools of a dependency graph stand. */
import { expect, test } from "vitest";
import { layOut, type Dependency } from "../../../webview/graph/layout.ts";

/** `0>1:x` says that tool 1 needs x, which tool 0 gives. */
const edges = (text: string): Dependency[] =>
  text
    .split(" ")
    .filter(it => it !== "")
    .map(it => {
      const [, a, b, need] = /^(\d+)>(\d+):(\w+)$/.exec(it)!;
      return { a: Number(a), b: Number(b), need: need! };
    });

const check = (count: number, text: string, columns: readonly number[]) =>
  expect(layOut(count, edges(text)).map(it => it.column)).toEqual(columns);

test("without needs all stand in the first column", () => check(3, "", [0, 0, 0]));
test("a column counts the calls that must come before", () => check(3, "0>1:x 1>2:y", [0, 1, 2]));
test("the easiest of alternatives counts", () => check(3, "0>1:x 0>2:y 1>2:y", [0, 1, 1]));
test("the hardest of needs counts", () => check(4, "0>1:x 0>2:y 1>2:z 0>3:x", [0, 1, 2, 1]));
test("tools that need each other: whoever gives most begins", () =>
  check(3, "0>1:x 1>0:x 0>2:x", [0, 1, 1]));
test("a long column goes on in the next", () => {
  const spots = layOut(40, edges(Array.from({ length: 39 }, (_, i) => `0>${i + 1}:x`).join(" ")));
  expect(Math.max(...spots.map(it => it.column))).toBe(3);
  expect(new Set(spots.map(it => `${it.column} ${it.row}`)).size).toBe(40);
});
test("edges between neighbours cross little", () => {
  const spots = layOut(6, edges("0>5:x 1>4:x 2>3:x"));
  const rows = [0, 1, 2].map(it => spots[it]!.row);
  expect([5, 4, 3].map(it => spots[it]!.row)).toEqual(rows);
});
test("no tool, no spot", () => check(0, "", []));
