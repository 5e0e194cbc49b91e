/** The edges of the state machine picture: how transitions are grouped, and where edges run. */
import { expect, test } from "vitest";
import {
  groupTransitions,
  classifyEdge,
  countVisits,
} from "../../../webview/synthesis/stateMachine.ts";
import {
  createArrow,
  knownEdges,
  findRoute,
  states,
} from "../../../webview/synthesis/stateMachine.ts";

const edges = groupTransitions([
  { from: "ask", event: "calls", to: "check-calls", n: 30 },
  { from: "ask", event: "text", to: "respond", n: 8 },
  { from: "ask", event: "empty", to: "regenerate", n: 1 },
  { from: "ask", event: "cut", to: "regenerate", n: 1 },
]);

test("the transitions between two states are one edge, with its share and its weight", () => {
  expect(edges.map(({ to, n, share, weight }) => [to, n, share, weight])).toEqual([
    ["check-calls", 30, 0.75, 1],
    ["respond", 8, 0.2, 8 / 30],
    ["regenerate", 2, 0.05, 2 / 30],
  ]);
  expect(edges[2]!.events.map(it => it.event)).toEqual(["empty", "cut"]);
});

test("visits count how often a state was entered, or, for the first one, left", () =>
  expect([
    countVisits(edges, "ask"),
    countVisits(edges, "respond"),
    countVisits(edges, "turn"),
  ]).toEqual([40, 8, 0]));

test("edges are classified as rejection, repair or normal", () =>
  expect(
    [
      ["check-query", "reject"],
      ["ask", "regenerate"],
      ["recover", "ask"],
      ["check-query", "query"],
      ["continue", "query"],
    ].map(([from, to]) => classifyEdge({ from: from!, to: to! })),
  ).toEqual(["reject", "repair", "repair", "repair", "normal"]));

test("every known edge connects states that have a position", () => {
  for (const [from, to] of knownEdges) expect([from, to].every(it => it in states)).toBe(true);
});

test("an unknown edge is a straight line, and a state without a position has no route", () => {
  expect(findRoute("turn", "reject")?.path).toBe("M267 290 L1018 484");
  expect(findRoute("turn", "elsewhere")).toBeUndefined();
});

test("a line ends where its arrow head begins, and the head points along the line", () =>
  expect(createArrow("M0 0 L100 0", 2)).toEqual({
    line: "M0 0 L91.8 0.0",
    head: "M100 0L91.8 4.5L91.8 -4.5Z",
  }));
