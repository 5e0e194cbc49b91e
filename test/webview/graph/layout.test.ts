/** The layout of the tools of a dependency graph. */
import { expect, test } from "vitest";
import { layOut, type Dependency } from "../../../webview/graph/drawing.ts";

/** Parses parseEdges: `0>1:x` means that tool 1 needs x, which tool 0 returns. */
const parseEdges = (text: string): Dependency[] =>
  text
    .split(" ")
    .filter(it => it !== "")
    .map(it => {
      const [, a, b, need] = /^(\d+)>(\d+):(\w+)$/.exec(it)!;
      return { a: Number(a), b: Number(b), need: need! };
    });

const check = (count: number, text: string, columns: readonly number[]) =>
  expect(layOut(count, parseEdges(text)).map(it => it.column)).toEqual(columns);

test("tools without dependencies are in the first column", () => check(3, "", [0, 0, 0]));
test("a tool's column is the number of calls that must come before it", () =>
  check(3, "0>1:x 1>2:y", [0, 1, 2]));
test("of alternatives, the one with the fewest calls counts", () =>
  check(3, "0>1:x 0>2:y 1>2:y", [0, 1, 1]));
test("of several needs, the one with the most calls counts", () =>
  check(4, "0>1:x 0>2:y 1>2:z 0>3:x", [0, 1, 2, 1]));
test("in a cycle, the tool with the most outgoing edges comes first", () =>
  check(3, "0>1:x 1>0:x 0>2:x", [0, 1, 1]));
test("a long column continues in the next one", () => {
  const positions = layOut(
    40,
    parseEdges(Array.from({ length: 39 }, (_, i) => `0>${i + 1}:x`).join(" ")),
  );
  expect(Math.max(...positions.map(it => it.column))).toBe(3);
  expect(new Set(positions.map(it => `${it.column} ${it.row}`)).size).toBe(40);
});
test("rows are ordered so that edges do not cross", () => {
  const positions = layOut(6, parseEdges("0>5:x 1>4:x 2>3:x"));
  const rows = [0, 1, 2].map(it => positions[it]!.row);
  expect([5, 4, 3].map(it => positions[it]!.row)).toEqual(rows);
});
test("no tools have no positions", () => check(0, "", []));
