/**
 * Registers what happens to attempts and tasks when fixtures are edited: the open attempt is
 * repeated with the saved fixture, transcripts say that a fixture has changed, and the tasks of a
 * file that still fit are written to another file.
 */
import { existsSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  CodeLens,
  commands,
  type ExtensionContext,
  languages,
  Range,
  Uri,
  window,
  workspace,
} from "vscode";
import { LineWriter } from "../../storage/lineWriter.ts";
import { readTasks } from "../../trajectory/file.ts";
import { findChange } from "../../trajectory/replay.ts";
import { formatTaskLine } from "../../trajectory/task.ts";
import { UserError } from "../../userError.ts";
import { type AttemptNode, isTranscript } from "../attempts/attemptLocation.ts";
import { getTranscriptTitle, readLocation } from "../attempts/storedLocation.ts";
import type { OpenAttempt, Transcripts } from "../attempts/transcripts.ts";
import { findProblems } from "../fixtures/fixtureLanguage.ts";
import { type FixtureFiles, getFixtureName } from "../fixtures/fixtureFiles.ts";
import { registerCommands } from "../shared/commands.ts";
import { formatCount, toPlainLine } from "../shared/text.ts";
import { showInformation, showProgress } from "../shared/notifications.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import { reportRejection } from "../shared/report.ts";
import { getRewardProfile } from "../shared/settings.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { replayOnEdited, startsFrom } from "./editedReplay.ts";
import { migrateTask } from "./taskMigration.ts";

interface MigrationDependencies {
  readonly files: ReadOnlyFiles;
  readonly definitions: ServerDefinitions;
  readonly fixtures: FixtureFiles;
  readonly transcripts: Transcripts;
}

export function registerMigration(
  context: ExtensionContext,
  dependencies: MigrationDependencies,
): void {
  registerTaskMigration(context, dependencies);
  registerReplays(context, dependencies);
}

function registerTaskMigration(
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

interface Shown {
  readonly uri: Uri;
  readonly attempt: OpenAttempt;
}

function registerReplays(
  context: ExtensionContext,
  { files, definitions, fixtures, transcripts }: MigrationDependencies,
): void {
  const { subscriptions } = context;
  /** The texts of the documents that were opened, by path. */
  const texts = new Map<string, string>();
  /** The attempts as they were before a fixture is saved, by the address of the fixture. */
  const attempts = new Map<string, Promise<Shown | undefined>>();
  let replays = 0;

  const replay = async ({ uri, attempt }: Shown) => {
    const { summary, text } = replayOnEdited(
      await definitions.openCatalog(),
      attempt,
      getRewardProfile(),
    );
    const title = getTranscriptTitle(uri);
    const [before, after] = ["before", "after"].map(it =>
      Uri.from({ scheme: "prove", path: `/replays/${replays}/${it}/${title}.calls` }),
    );
    replays++;
    texts.set(before!.path, attempt.transcript.text);
    texts.set(after!.path, text);
    await commands.executeCommand("vscode.diff", before, after, `${title}: ${summary}`);
  };

  registerCommands(context, {
    replayAttempt: async (attempt?: AttemptNode | Uri) => {
      const uri = await transcripts.findUri(attempt);
      const found = await transcripts.getAttempt(uri);
      if (found.rejected)
        throw new UserError(
          `${found.rejected.id} was rejected and cannot be replayed`,
          "replay a task instead",
        );
      await replay({ uri, attempt: found });
    },
  });
  files.provide("/replays/", ({ path }) =>
    Promise.resolve(texts.get(path) ?? "This replay was made before the window was reloaded.\n"),
  );
  subscriptions.push(
    workspace.onWillSaveTextDocument(({ document: { uri, isDirty } }) => {
      const names = fixtures.isWorkspaceFixture(uri) && isDirty ? getFixtureName(uri) : undefined;
      if (names) attempts.set(uri.toString(), findAttempt(transcripts, names));
    }),
    workspace.onDidSaveTextDocument(document => {
      const shown = attempts.get(document.uri.toString());
      attempts.delete(document.uri.toString());
      if (!shown) return;
      const offer = async () => {
        const found = await shown;
        // an attempt cannot be repeated in a world with mistakes
        if (!found || (await findProblems(document, definitions)).length > 0) return;
        const { server, name } = getFixtureName(document.uri)!;
        const answer = await showInformation(
          `${server}/${name} was saved. Replay the open attempt ${getTranscriptTitle(found.uri)} on it?`,
          "Replay Attempt",
        );
        if (answer !== undefined) await replay(found);
      };
      reportRejection(offer());
    }),
    workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === "prove") texts.delete(uri.path);
    }),
  );
}

/** The open attempt that starts from a fixture, a visible one first. */
async function findAttempt(
  transcripts: Transcripts,
  fixture: { readonly server: string; readonly name: string },
): Promise<Shown | undefined> {
  const documents = [
    ...window.visibleTextEditors.map(it => it.document),
    ...workspace.textDocuments,
  ];
  for (const { uri } of documents) {
    if (!isTranscript(uri)) continue;
    const attempt = await transcripts.getAttempt(uri);
    if (!attempt.rejected && startsFrom(attempt.trajectory, fixture)) return { uri, attempt };
  }
  return undefined;
}
