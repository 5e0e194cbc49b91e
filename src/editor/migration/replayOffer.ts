/**
 * Offers to repeat the open attempt when a fixture that it starts from is saved. The two
 * transcripts are then shown side by side.
 */
import { Uri, commands, window, workspace, type ExtensionContext } from "vscode";
import { showInformation } from "../shared/notifications.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import { reportRejection } from "../shared/report.ts";
import { getRewardProfile } from "../shared/rewardProfile.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { isTranscript } from "../attempts/attemptLocation.ts";
import { getTranscriptTitle } from "../attempts/storedLocation.ts";
import type { OpenAttempt, Transcripts } from "../attempts/transcripts.ts";
import { findProblems } from "../fixtures/fixtureChecks.ts";
import { getFixtureName, type FixtureFiles } from "../fixtures/fixtureFiles.ts";
import { replayOnEdited, startsFrom } from "./editedReplay.ts";

export interface ReplayOfferDependencies {
  readonly files: ReadOnlyFiles;
  readonly definitions: ServerDefinitions;
  readonly fixtures: FixtureFiles;
  readonly transcripts: Transcripts;
}

interface Shown {
  readonly uri: Uri;
  readonly attempt: OpenAttempt;
}

export function registerReplayOffer(
  { subscriptions }: ExtensionContext,
  { files, definitions, fixtures, transcripts }: ReplayOfferDependencies,
): void {
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
      Uri.from({ scheme: "prove", path: `/replays/${replays}/${it}/${title}.txt` }),
    );
    replays++;
    texts.set(before!.path, attempt.transcript.text);
    texts.set(after!.path, text);
    await commands.executeCommand("vscode.diff", before, after, `${title}: ${summary}`);
  };

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
