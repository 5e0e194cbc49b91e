/**
 * Scores the attempts of a table in the command-line program, so that the extension host stays
 * free. In a workspace that is not trusted nothing is started: they are scored here, in slices.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Uri, workspace } from "vscode";
import { createForkChannel } from "../../channel/channel.ts";
import type { EditorMessages, ProgramMessages } from "../../protocol/work.ts";
import type { Profile } from "../../reward/profiles.ts";
import type { AttemptSource } from "../../run/scoreAttempts.ts";
import { scoreInBatches, type ScoredRows, type ScoringResult } from "../../run/scoreInBatches.ts";
import { findNode, forkProgram } from "./program.ts";
import type { ProveFolder } from "./proveFolder.ts";
import type { ServerDefinitions } from "./serverDefinitions.ts";
import { getSetting } from "./settings.ts";
import { sliceMilliseconds } from "./timeSlices.ts";
import { rejectOnExit } from "./work.ts";

export interface ScoringDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
  /** Where the rows of tables are kept; undefined if no folder is open. */
  readonly storageUri: Uri | undefined;
}

export interface ScoringRequest {
  readonly sources: readonly AttemptSource[];
  readonly profile: Profile;
  readonly send: (rows: ScoredRows) => void;
  readonly signal: AbortSignal;
}

/** Scores attempts and sends their rows. Throws a `UserError` if they cannot be read or scored. */
export const scoreTable = (
  request: ScoringRequest,
  dependencies: ScoringDependencies,
): Promise<ScoringResult> =>
  workspace.isTrusted && dependencies.storageUri
    ? scoreInProgram(request, dependencies, dependencies.storageUri)
    : scoreInSlices(request, dependencies);

async function scoreInProgram(
  { sources, profile, send, signal }: ScoringRequest,
  { extensionUri, folder }: ScoringDependencies,
  storageUri: Uri,
): Promise<ScoringResult> {
  const node = await findNode(getSetting("node"));
  signal.throwIfAborted();
  const caches = Uri.joinPath(storageUri, "attempts").fsPath;
  mkdirSync(caches, { recursive: true });
  const dist = Uri.joinPath(extensionUri, "dist").fsPath;
  const program = forkProgram(node, dist, ["work"], folder.workspacePath || dist);
  const channel = createForkChannel<EditorMessages, ProgramMessages>(program);
  channel.listen("scored", send);
  channel.open();
  const name = createHash("sha256").update(JSON.stringify(sources)).digest("hex").slice(0, 16);
  try {
    return await Promise.race([
      channel.request(
        "scoreAttempts",
        {
          sources,
          profile: profile.name,
          fixtures: folder.fixtureFolders,
          cache: join(caches, `${name}.jsonl`),
        },
        signal,
      ),
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
