/** Scoring attempts for the editor: rows are kept in a file until what they depend on changes. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scoreInThreads, scoreForTable } from "../../src/app/scoringThreads.ts";
import { openCatalog } from "../../src/environment/catalog.ts";
import type { ScoringWork } from "../../src/protocol/work.ts";
import { profiles } from "../../src/reward/profiles.ts";
import { readCachedRows } from "../../src/run/scoreAttempts.ts";
import type { AttemptRow } from "../../src/run/attemptRow.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import { root } from "../contracts/transports.ts";
import { abstain, moveFifty } from "../trajectory/sampleTasks.ts";
import { emptyFolder } from "./program.ts";

const shipped = join(root, "resources/servers");
const program = join(root, "src/app/thread.ts");
const catalog = openCatalog(await loadServers(), [shipped]);

/** The rows as the editor gets them: those that were kept, or else those of the program. */
async function readOrScore(work: ScoringWork): Promise<readonly AttemptRow[]> {
  const kept = await readCachedRows(work);
  return kept ? kept.batches.flatMap(it => it.rows) : score(work);
}

async function score(work: ScoringWork): Promise<readonly AttemptRow[]> {
  const rows: AttemptRow[] = [];
  const { signal } = new AbortController();
  await scoreForTable(work, { catalog, signal, program }, it => rows.push(...it.rows));
  return rows;
}

async function createWork(): Promise<ScoringWork> {
  const folder = emptyFolder();
  const file = join(folder, "few.tasks.jsonl");
  writeFileSync(file, `${formatTaskLine(await moveFifty())}\n`);
  return {
    sources: [{ kind: "tasks", file }],
    profile: "paper",
    fixtures: [join(folder, "fixtures"), shipped],
    cache: join(folder, "rows.jsonl"),
  };
}

/** Changes the kept rows, so that it shows whether they are used. */
const markCache = ({ cache }: ScoringWork) =>
  writeFileSync(cache, readFileSync(cache, "utf8").replaceAll("t-move", "kept"));

test("the rows are kept, and sent again while the file is the same", async () => {
  const work = await createWork();
  expect((await readOrScore(work)).map(it => it.task)).toEqual(["t-move"]);
  expect(existsSync(work.cache)).toBe(true);
  markCache(work);
  expect((await readOrScore(work)).map(it => it.task)).toEqual(["kept"]);
});

test("rows of a file that has grown are scored again", async () => {
  const work = await createWork();
  await readOrScore(work);
  markCache(work);
  const [source] = work.sources;
  if (source?.kind !== "tasks") throw new Error("no tasks file");
  appendFileSync(source.file, `${formatTaskLine(await abstain())}\n`);
  expect((await readOrScore(work)).map(it => it.task)).toEqual(["t-move", "t-abstain"]);
});

test("rows under another profile are scored again", async () => {
  const work = await createWork();
  await readOrScore(work);
  markCache(work);
  expect((await readOrScore({ ...work, profile: "prove-plus" })).map(it => it.task)).toEqual([
    "t-move",
  ]);
});

test("a cache that was cut off is written anew", async () => {
  const work = await createWork();
  await readOrScore(work);
  markCache(work);
  writeFileSync(work.cache, readFileSync(work.cache, "utf8").slice(0, -20));
  expect((await readOrScore(work)).map(it => it.task)).toEqual(["t-move"]);
});

test("threads score the same rows in the same order as one program", async () => {
  const work = await createWork();
  const [source] = work.sources;
  if (source?.kind !== "tasks") throw new Error("no tasks file");
  const line = formatTaskLine(await moveFifty());
  // more than two chunks, with lines that hold no task in the first and in the last
  const lines = Array.from({ length: 230 }, (_, i) => line.replaceAll('"t-move"', `"t-${i}"`));
  writeFileSync(source.file, ["no task", ...lines, "{}"].join("\n"));
  const threaded: AttemptRow[] = [];
  const { skipped } = await scoreInThreads({
    file: source.file,
    profile: profiles.find(it => it.name === work.profile)!,
    fixtures: work.fixtures,
    program,
    catalog,
    threads: 2,
    signal: new AbortController().signal,
    send: it => threaded.push(...it.rows),
  });
  expect(skipped).toBe(2);
  expect(threaded).toEqual(await score(work));
  expect(threaded.map(it => it.task)).toEqual(lines.map((_, i) => `t-${i}`));
});

test("threads end when they are canceled", async () => {
  const work = await createWork();
  const [source] = work.sources;
  if (source?.kind !== "tasks") throw new Error("no tasks file");
  const abort = new AbortController();
  const scoring = scoreInThreads({
    file: source.file,
    profile: profiles.find(it => it.name === work.profile)!,
    fixtures: work.fixtures,
    program,
    catalog,
    threads: 2,
    signal: abort.signal,
    send: () => {},
  });
  abort.abort(new Error("canceled"));
  await expect(scoring).rejects.toThrow("canceled");
});
