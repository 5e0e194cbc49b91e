/** The ids of a transcript: where they occur, and where those in arguments came from. */
import { expect, test } from "vitest";
import {
  findIdSource,
  findOccurrenceAt,
  findTranscriptIds,
  type IdOccurrence,
} from "../../../../src/editor/attempts/transcript/transcriptIds.ts";
import { calling, catalog, lookUp, saying, transfer } from "../../../trajectory/sampleTasks.ts";
import { loadSampleAttempt, type SampleAttempt } from "../sampleAttempts.ts";

const findIds = ({ trajectory, transcript }: SampleAttempt) =>
  findTranscriptIds({ catalog, trajectory, transcript });

const readText = ({ transcript }: SampleAttempt, { line, start, end }: IdOccurrence) =>
  transcript.text.split("\n")[line]!.slice(start, end);

test("ids are found in arguments, results and goals, with their kind", async () => {
  const attempt = await loadSampleAttempt();
  const ids = findIds(attempt);
  const { occurrences, kinds } = ids;
  const own = occurrences.filter(it => it.id === "acc_108");
  expect(new Set(own.map(it => it.place))).toEqual(new Set(["argument", "result", "other"]));
  expect(kinds.get("acc_108")).toBe("account");
  for (const it of occurrences) expect(readText(attempt, it)).toBe(it.id);
  expect(findOccurrenceAt(ids, own[0]!.line, own[0]!.start + 2)).toBe(own[0]);
});

test("an id in an argument comes from the first result that showed it", async () => {
  const attempt = await loadSampleAttempt();
  const { trajectory, transcript } = attempt;
  const ids = findIds(attempt);
  const argument = ids.occurrences.find(it => it.id === "acc_108" && it.place === "argument")!;
  const source = findIdSource(ids, argument)!;
  expect(transcript.text.split("\n")[source.line]).toContain("acc_108");
  expect(source.line).toBeLessThan(argument.line);
  expect(transcript.eventAt(source.line)).toBe(
    trajectory.events.findIndex(it => it.kind === "call"),
  );
});

test("an id that nothing showed before has no source", async () => {
  const attempt = await loadSampleAttempt([
    calling(transfer("acc_999", 50)),
    calling(lookUp),
    saying("Moved."),
  ]);
  const ids = findIds(attempt);
  const made = ids.occurrences.find(it => it.id === "acc_999" && it.place === "argument")!;
  expect(findIdSource(ids, made)).toBeUndefined();
});

test("without the fixture, ids are those that the schemas declare", async () => {
  const attempt = await loadSampleAttempt();
  const { header, events } = attempt.trajectory;
  const servers = header.servers.map(it => ({ ...it, fixture: "gone" }));
  const trajectory = { header: { ...header, servers }, events };
  const { occurrences } = findTranscriptIds({
    catalog,
    trajectory,
    transcript: attempt.transcript,
  });
  expect(occurrences.some(it => it.id === "acc_108")).toBe(true);
});
