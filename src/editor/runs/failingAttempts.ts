/** Finds an attempt that fails and is worth a look, and shows it with its reward. */
import type { Uri } from "vscode";
import { getGroupsFile, listRecordedSteps } from "../../run/folder.ts";
import { UserError } from "../../userError.ts";
import { listFiles, requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import type { RewardPages } from "../attempts/reward/rewardPages.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { indexGroups, type Group, type GroupEntry } from "../attempts/groupIndex.ts";
import type { Runs } from "./runs.ts";

interface FailingAttemptDependencies {
  readonly folder: ProveFolder;
  readonly runs: Runs;
  readonly transcripts: Transcripts;
  readonly rewardPages: RewardPages;
  readonly synthesis: Synthesis;
}

/** Trajectory files that are read until one fails. */
const maxFiles = 20;

export class FailingAttempts {
  readonly #dependencies: FailingAttemptDependencies;

  constructor(dependencies: FailingAttemptDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Shows a failing attempt of the newest run that has one, else of a trajectory file. In a folder
   * without either, the example is copied first.
   */
  async show(): Promise<void> {
    const { transcripts, rewardPages, synthesis } = this.#dependencies;
    let attempt = await this.#find();
    if (!attempt) {
      requireTrust("copying the example");
      await synthesis.copyExample();
      attempt = await this.#find();
    }
    if (!attempt) throw new UserError("no attempt fails", "train a student first");
    await transcripts.open(attempt);
    // the actions in the title of the transcript are shown while its group is active
    await rewardPages.open(attempt, { preserveFocus: true });
  }

  async #find(): Promise<AttemptNode | Uri | undefined> {
    return (await this.#findInRuns()) ?? (await this.#findInFiles());
  }

  async #findInRuns(): Promise<AttemptNode | undefined> {
    for (const monitor of this.#dependencies.runs.list())
      for (const step of listRecordedSteps(monitor.folder)) {
        const { groups } = await indexGroups(getGroupsFile(monitor.folder, step));
        const entry = pickFailingEntry(groups);
        if (entry) return { kind: "attempt", monitor, step, entry };
      }
    return undefined;
  }

  async #findInFiles(): Promise<Uri | undefined> {
    const { folder, transcripts } = this.#dependencies;
    const files = await listFiles(folder.getPart("tasks"), ".trajectory.jsonl");
    for (const file of files.slice(0, maxFiles)) {
      const { reward } = await transcripts.read(transcripts.resolveUri(file));
      if ("success" in reward && !reward.success.achieved) return file;
    }
    return undefined;
  }
}

/** The failing attempt with the highest reward, from a group with a successful one if possible. */
function pickFailingEntry(groups: readonly Group[]): GroupEntry | undefined {
  const mixed = groups.filter(it => it.entries.some(({ success }) => success));
  const listFailing = (from: readonly Group[]) =>
    from
      .flatMap(it => it.entries)
      .filter(it => !it.success)
      .toSorted((a, b) => b.total - a.total);
  return listFailing(mixed)[0] ?? listFailing(groups)[0];
}
