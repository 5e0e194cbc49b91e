/**
 * Registers the migration of tasks to edited fixtures: transcripts say that a fixture has changed,
 * and the tasks of a file that still fit are written to another file.
 */
import { existsSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { CodeLens, Range, Uri, languages, window, type ExtensionContext } from "vscode";
import { LineWriter } from "../../storage/lineWriter.ts";
import { readTasks } from "../../trajectory/file.ts";
import { findChange } from "../../trajectory/replay.ts";
import { formatTaskLine } from "../../trajectory/taskLine.ts";
import { UserError } from "../../userError.ts";
import { registerCommands } from "../shared/commands.ts";
import { formatCount } from "../shared/count.ts";
import { showInformation, showProgress } from "../shared/notifications.ts";
import { toPlainLine } from "../shared/plainText.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { readLocation } from "../attempts/storedLocation.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { migrateTask } from "./taskMigration.ts";

export interface MigrationDependencies {
  readonly files: ReadOnlyFiles;
  readonly definitions: ServerDefinitions;
  readonly transcripts: Transcripts;
}

export function registerTaskMigration(
  context: ExtensionContext,
  { files, definitions, transcripts }: MigrationDependencies,
): void {
  /** Why tasks were left out, by the path of the document. */
  const reasons = new Map<string, string>();
  files.provide("/migrations/", ({ path }) =>
    Promise.resolve(reasons.get(path) ?? "These tasks were migrated before the window reloaded.\n"),
  );
  context.subscriptions.push(
    languages.registerCodeLensProvider(
      { language: "prove-trajectory" },
      { provideCodeLenses: ({ uri }) => createLenses(transcripts, uri) },
    ),
  );
  registerCommands(context, {
    migrateTasks: async (target: { readonly file: Uri } | Uri) => {
      requireTrust("migrating tasks");
      const source = (target instanceof Uri ? target : target.file).fsPath;
      const result = await migrateFile(source, definitions);
      if (!result) return;
      const { file, kept, left } = result;
      const message = file
        ? `${formatCount(kept, "task")} of ${basename(source)} fit the edited fixtures and were written to ${basename(file)}. ${left.length} do not fit.`
        : left.length
          ? `No task of ${basename(source)} fits the edited fixtures.`
          : `No fixture of ${basename(source)} has changed.`;
      const answer = await showInformation(message, ...(left.length ? ["Show Reasons"] : []));
      if (answer === undefined) return;
      const uri = Uri.from({ scheme: "prove", path: `/migrations/${reasons.size}/left-out.txt` });
      reasons.set(uri.path, left.map(it => `${it}\n`).join(""));
      await window.showTextDocument(uri);
    },
  });
}

/** Says that a fixture has changed, and offers to migrate the tasks if it is a task's transcript. */
async function createLenses(transcripts: Transcripts, uri: Uri): Promise<CodeLens[]> {
  const { trajectory, rejected, catalog } = await transcripts.getAttempt(uri);
  if (rejected) return [];
  const { verdict, what } = findFixtureChange(catalog, trajectory.header);
  if (verdict !== "fixture changed") return [];
  const location = readLocation(uri);
  const isTask = location.kind === "task";
  return [
    new CodeLens(new Range(0, 0, 0, 0), {
      title: `$(warning) ${toPlainLine(what ?? "")}${isTask ? ": Migrate Tasks" : ""}`,
      command: isTask ? "prove.migrateTasks" : "",
      arguments: isTask ? [Uri.file(location.file)] : [],
    }),
  ];
}

/** A fixture that is missing is explained where the reward is. */
function findFixtureChange(...[catalog, header]: Parameters<typeof findChange>): {
  readonly verdict?: string;
  readonly what?: string;
} {
  try {
    return findChange(catalog, header);
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}

interface MigratedFile {
  /** Absent if nothing was written. */
  readonly file: string | undefined;
  readonly kept: number;
  /** The tasks that do not fit, and why. */
  readonly left: readonly string[];
}

/** Writes the tasks that fit to a new file. Undefined if the person cancels. */
async function migrateFile(
  source: string,
  definitions: ServerDefinitions,
): Promise<MigratedFile | undefined> {
  const file = source.replace(/\.tasks\.jsonl$/, "-migrated.tasks.jsonl");
  if (existsSync(file))
    throw new UserError(`${basename(file)} exists already`, "rename or delete it first");
  const catalog = await definitions.openCatalog();
  return showProgress(`Migrating ${basename(source)}`, async (_, token) => {
    const writer = new LineWriter(file);
    const left: string[] = [];
    let [kept, migrated] = [0, 0];
    let isDone = false;
    try {
      for await (const task of readTasks(source)) {
        if (token.isCancellationRequested) return undefined;
        // replaying a task takes some milliseconds: other work can run in between
        await setImmediate();
        const result = migrateTask(catalog, task);
        if (result.kind === "unfit") left.push(`${task.id}: ${result.why}`);
        else {
          writer.append(formatTaskLine(result.kind === "migrated" ? result.task : task));
          kept++;
          if (result.kind === "migrated") migrated++;
        }
      }
      isDone = migrated > 0;
    } finally {
      writer.close();
      if (!isDone) rmSync(file);
    }
    return { file: isDone ? file : undefined, kept, left };
  });
}
