/** State logs are formatted as one line per user turn and parsed again. */
import { expect, test } from "vitest";
import {
  formatStateLog,
  parseStateLog,
  type Transition,
} from "../../../src/synthesis/pipeline/conversation/stateLog.ts";

const step = (
  t: number,
  from: Transition["from"],
  event: string,
  to: Transition["to"],
  attempt = 1,
): Transition => ({ t, from, event, to, attempt });

const conversation = [
  step(1, "query", "text", "check-query"),
  step(1, "check-query", "names a tool", "query"),
  step(1, "query", "text", "check-query", 2),
  step(1, "check-query", "sound", "turn", 2),
  step(1, "turn", "said", "ask"),
  step(1, "ask", "text", "respond"),
  step(1, "respond", "answered", "continue"),
  step(1, "continue", "follow-up", "query"),
  step(2, "query", "nothing to say", "reject"),
];

test("each turn is one line, with the number of the attempt after the state", () => {
  expect(formatStateLog(conversation)).toEqual([
    "query -text-> check-query -names a tool-> query#2 -text-> check-query#2 -sound-> turn -said-> ask -text-> respond -answered-> continue -follow-up-> query",
    "query -nothing to say-> reject",
  ]);
});

test("a formatted log is parsed into the same transitions", () => {
  expect(parseStateLog(formatStateLog(conversation))).toEqual(conversation);
  expect(formatStateLog([])).toEqual([]);
  expect(parseStateLog([])).toEqual([]);
});

test("an event may contain an arrow", () => {
  expect(parseStateLog(formatStateLog([step(1, "query", "a -> b", "reject")]))).toEqual([
    step(1, "query", "a > b", "reject"),
  ]);
});

test("invalid lines have no transitions", () => {
  expect(parseStateLog(["", "hello", "query -text-> nowhere", "ask"])).toEqual([]);
});
