/** The hover of an id: the entity as the state has it at that place of the transcript. */
import { expect, test } from "vitest";
import {
  describeEntityAt,
  findTranscriptIds,
  type IdPlace,
} from "../../../../src/editor/attempts/transcript/transcriptIds.ts";
import type { AssistantMessage } from "../../../../src/policy/policy.ts";
import { calling, catalog, lookUp, saying, transfer } from "../../../trajectory/sampleTasks.ts";
import { loadSampleAttempt } from "../sampleAttempts.ts";

async function describe(id: string, place: IdPlace, messages?: readonly AssistantMessage[]) {
  const { trajectory, transcript } = await loadSampleAttempt(messages);
  const ids = findTranscriptIds({ catalog, trajectory, transcript });
  const found = ids.occurrences.filter(it => it.id === id && it.place === place);
  return { first: describeEntityAt(ids, found[0]!), last: describeEntityAt(ids, found.at(-1)!) };
}

test("an id shows its entity as the call finds it, and after the call as it is then", async () => {
  const messages = [
    calling(lookUp),
    calling(transfer("acc_108", 50)),
    calling(transfer("acc_108", 1)),
    saying("Moved."),
  ];
  const { first, last } = await describe("acc_108", "argument", messages);
  expect(first.title).toBe("banking.accounts.acc_108, after call 1 of 3");
  expect(last.title).toBe("banking.accounts.acc_108, after call 2 of 3");
  expect(JSON.parse(first.code!)).toHaveProperty("name");
  const { last: result } = await describe("acc_108", "result", messages);
  expect(result.title).toMatch(/^banking\.accounts\.acc_108, after call \d of 3$/);
});

test("an id that was made up says so", async () => {
  const { first } = await describe("acc_999", "argument", [
    calling(transfer("acc_999", 50)),
    saying("Moved."),
  ]);
  expect(first).toEqual({
    title:
      "acc_999: not in the state, before the first call\n" +
      "Neither the user nor a result has shown this id before.",
  });
});

test("in the goals, the entity is shown as it is at the end", async () => {
  const { first } = await describe("acc_108", "other");
  expect(first.title).toBe("banking.accounts.acc_108, at the end");
});
