/** Aligning the calls of several attempts. */
import { expect, test } from "vitest";
import { alignAttempts, type AlignedItem } from "../../../src/editor/comparison/groupView.ts";

/** A list of items such as `list pay/2`: the name and, after the slash, the goal that it serves. */
const parse = (text: string): AlignedItem[] =>
  text
    .split(" ")
    .filter(it => it !== "")
    .map(it => {
      const [name, goal] = it.split("/");
      return { name: name!, text: "", ...(goal === undefined ? {} : { goal: Number(goal) }) };
    });

/** One line per row: the items of the lists, and `.` where a list has none. */
const format = (texts: readonly string[]) => {
  const words = texts.map(it => it.split(" "));
  return alignAttempts(texts.map(parse)).map(row =>
    row.map((it, list) => (it === null ? "." : words[list]![it]!)).join(" "),
  );
};

test("equal calls share their rows", () =>
  expect(format(["list pay", "list pay"])).toEqual(["list list", "pay pay"]));

test("a call that others lack has a row of its own, in its place", () =>
  expect(format(["list pay", "list check pay"])).toEqual(["list list", ". check", "pay pay"]));

test("calls of different tools never share a row", () =>
  expect(format(["list", "pay"])).toEqual([". pay", "list ."]));

test("calls that serve the same goal are preferred", () =>
  expect(format(["pay/1", "pay/0 pay/1"])).toEqual([". pay/0", "pay/1 pay/1"]));

test("an attempt without calls has empty rows", () =>
  expect(format(["", "list pay"])).toEqual([". list", ". pay"]));

test("the calls of every attempt keep their order", () => {
  const lists = ["a b c a b", "b a c", "c c a b a", "a a b c", ""].map(parse);
  const rows = alignAttempts(lists);
  for (const [i, list] of lists.entries())
    expect(rows.flatMap(row => row[i] ?? [])).toEqual([...list.keys()]);
});
