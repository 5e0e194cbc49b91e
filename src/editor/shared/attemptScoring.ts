/**
 * Scores the attempts of a table in the command-line program, so that the extension host stays
 * free. Rows that the program has kept are read here, which is faster than starting it. In a
 * workspace that is not trusted nothing is started: attempts are scored here, in slices.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Uri, workspace } from "vscode";
import { createForkChannel } from "../../channel/channel.ts";
import type { EditorMessages, ProgramMessages, ScoringWork } from "../../protocol/work.ts";
import type { Profile } from "../../reward/profiles.ts";
import {
  readCachedRows,
  type AttemptSource,
  scoreInBatches,
  type ScoredRows,
  type ScoringResult,
} from "../../run/scoreAttempts.ts";
import { findNode, forkProgram, rejectOnExit } from "./program.ts";
import type { ProveFolder } from "./proveFolder.ts";
import type { ServerDefinitions } from "./serverDefinitions.ts";
import { getSetting } from "./settings.ts";
import { sliceMilliseconds } from "./timeSlices.ts";

export interface ScoringDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
  /** Where the rows of tables are kept; undefined if no folder is open. */
  readonly storageUri: Uri | undefined;
}

interface ScoringRequest {
  readonly sources: readonly AttemptSource[];
  readonly profile: Profile;
  readonly send: (rows: ScoredRows) => void;
  readonly signal: AbortSignal;
}

/** Scores attempts and sends their rows. Throws a `UserError` if they cannot be read or scored. */
export async function scoreTable(
  request: ScoringRequest,
  dependencies: ScoringDependencies,
): Promise<ScoringResult> {
  const { storageUri, folder } = dependencies;
  if (!storageUri) return scoreInSlices(request, dependencies);
  const { sources, profile, send, signal } = request;
  const name = createHash("sha256").update(JSON.stringify(sources)).digest("hex").slice(0, 16);
  const work: ScoringWork = {
    sources,
    profile: profile.name,
    fixtures: folder.fixtureFolders,
    cache: Uri.joinPath(storageUri, "attempts", `${name}.jsonl`).fsPath,
  };
  const known = await readCachedRows(work);
  signal.throwIfAborted();
  if (!known)
    return workspace.isTrusted
      ? scoreInProgram(work, request, dependencies)
      : scoreInSlices(request, dependencies);
  const { batches, ...result } = known;
  for (const it of batches) send(it);
  return result;
}

async function scoreInProgram(
  work: ScoringWork,
  { send, signal }: ScoringRequest,
  { extensionUri, folder }: ScoringDependencies,
): Promise<ScoringResult> {
  const node = await findNode(getSetting("node"));
  signal.throwIfAborted();
  mkdirSync(dirname(work.cache), { recursive: true });
  const dist = Uri.joinPath(extensionUri, "dist").fsPath;
  const program = forkProgram(node, dist, ["work"], folder.workspacePath || dist);
  const channel = createForkChannel<EditorMessages, ProgramMessages>(program);
  channel.listen("scored", send);
  channel.open();
  try {
    return await Promise.race([
      channel.request("scoreAttempts", work, signal),
      rejectOnExit(program),
      rejectOnAbort(signal),
    ]);
  } finally {
    program.kill();
  }
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
  );

async function scoreInSlices(
  { sources, profile, send, signal }: ScoringRequest,
  { definitions }: ScoringDependencies,
): Promise<ScoringResult> {
  const catalog = await definitions.openCatalog();
  let sliceStart = performance.now();
  const pause = async () => {
    if (performance.now() - sliceStart < sliceMilliseconds) return;
    await setImmediate();
    sliceStart = performance.now();
  };
  return scoreInBatches(sources, { catalog, profile, send, signal, pause });
}
