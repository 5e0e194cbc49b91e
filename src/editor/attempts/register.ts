/**
 * Registers trajectories: their transcripts, the debugger that steps through them, and the reward
 * pages.
 */
import { Uri, type ExtensionContext } from "vscode";
import type { FixtureFiles } from "../fixtures/fixtureFiles.ts";
import { setRewardDecimals } from "../shared/rewardText.ts";
import {
  getSetting,
  onDidChangeRewardProfile,
  onDidChangeSetting,
  selectRewardProfile,
} from "../shared/settings.ts";
import type { LiveSessions } from "../servers/liveSessions.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { reportRejection } from "../shared/report.ts";
import { registerCommands } from "../shared/commands.ts";
import { registerPageRestorer } from "../shared/page.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import type { AttemptNode } from "./attemptLocation.ts";
import { FixtureEntities, registerIdFeatures } from "./transcript/idFeatures.ts";
import {
  provideOfferedTools,
  registerTranscriptFeatures,
} from "./transcript/transcriptFeatures.ts";
import { RewardPages } from "./reward/rewardPages.ts";
import type { FindTask } from "./storedAttempt.ts";
import { TrajectoryDebugger, type LinePlace } from "./debug/trajectoryDebugger.ts";
import { Notes } from "./attemptNotes.ts";
import { Transcripts } from "./transcripts.ts";

interface TrajectoryDependencies {
  readonly folder: ProveFolder;
  readonly files: ReadOnlyFiles;
  readonly definitions: ServerDefinitions;
  readonly fixtures: FixtureFiles;
  readonly sessions: LiveSessions;
  readonly findTask: FindTask;
}

interface TrajectoriesFeature {
  readonly transcripts: Transcripts;
  readonly trajectoryDebugger: TrajectoryDebugger;
  readonly rewardPages: RewardPages;
  readonly notes: Notes;
}

export function registerTrajectories(
  context: ExtensionContext,
  { folder, files, definitions, fixtures, sessions, findTask }: TrajectoryDependencies,
): TrajectoriesFeature {
  setRewardDecimals(getSetting("rewardDecimals"));
  const transcripts = new Transcripts(definitions, findTask);
  const notes = new Notes(folder);
  const trajectoryDebugger = new TrajectoryDebugger(transcripts, sessions);
  const rewardPages = new RewardPages(context.extensionUri, transcripts, trajectoryDebugger);
  files.provide("/transcripts/", uri => transcripts.getText(uri));
  context.subscriptions.push(
    transcripts,
    notes,
    trajectoryDebugger,
    rewardPages,
    transcripts.onDidChange(uri => files.fireChange(uri)),
    // a reward depends on the fixture that the task starts from
    folder.onDidChange(part => {
      if (part === "fixtures") reportRejection(transcripts.refreshFixtures());
      if (part === "tasks" || part === "runs")
        reportRejection(transcripts.refreshFiles(rewardPages.listTranscripts()));
    }),
    onDidChangeRewardProfile(() => transcripts.refresh()),
    onDidChangeSetting("rewardDecimals", () => {
      setRewardDecimals(getSetting("rewardDecimals"));
      transcripts.refresh();
    }),
    registerPageRestorer("reward", (panel, state) => rewardPages.restore(panel, state["address"])),
    ...registerTranscriptFeatures(transcripts, notes),
    ...registerIdFeatures(transcripts, new FixtureEntities(fixtures, files, definitions)),
  );
  const showOfferedTools = provideOfferedTools(files, transcripts);
  registerCommands(context, {
    openTranscript: (attempt?: AttemptNode | Uri) => transcripts.open(attempt),
    stepTrajectory: (attempt?: AttemptNode | Uri) => trajectoryDebugger.start(attempt),
    // the context menu of the text gives the address only
    stepToHere: (place?: LinePlace | Uri) =>
      trajectoryDebugger.stepTo(place instanceof Uri ? undefined : place),
    // a menu passes other arguments after the attempt
    showReward: (attempt?: AttemptNode | Uri, call?: unknown) =>
      rewardPages.open(attempt, { call: typeof call === "number" ? call : undefined }),
    copyCall: (transcript: Uri, call: number) => transcripts.copyCall(transcript, call),
    showOfferedTools: (attempt?: AttemptNode | Uri) => showOfferedTools(attempt),
    noteAttempt: async (attempt?: AttemptNode | Uri) => {
      const uri = transcripts.resolveUri(attempt);
      await notes.edit(uri, await transcripts.read(uri));
    },
    selectRewardProfile: () => selectRewardProfile(),
  });
  return { transcripts, trajectoryDebugger, rewardPages, notes };
}
