/** Registers links to attempts, and the export of an attempt as one HTML page. */
import { basename } from "node:path";
import { env, type ExtensionContext, Uri, window, workspace } from "vscode";
import { createAttemptPage } from "../../reward/attemptPage.ts";
import { describeReplaced } from "../../trajectory/attempt.ts";
import { paperProfile } from "../../reward/profiles.ts";
import { getGroupsFile } from "../../run/folder.ts";
import { UserError } from "../../userError.ts";
import { type AttemptNode, getNodeUri } from "../attempts/attemptLocation.ts";
import { indexGroups } from "../attempts/groupIndex.ts";
import { getTranscriptTitle, readLocation } from "../attempts/storedLocation.ts";
import type { OpenAttempt, Transcripts } from "../attempts/transcripts.ts";
import { getRunName, type Runs } from "../runs/runs.ts";
import { registerCommands } from "../shared/commands.ts";
import { showInformation } from "../shared/notifications.ts";
import { reportRejection } from "../shared/report.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import { type AttemptLink, formatLink, parseLink } from "./link.ts";

export function registerLinks(
  context: ExtensionContext,
  dependencies: Omit<AttemptLinkDependencies, "extension">,
): void {
  const links = new AttemptLinks({ ...dependencies, extension: context.extension.id });
  context.subscriptions.push(
    window.registerUriHandler({ handleUri: uri => reportRejection(links.open(uri)) }),
  );
  registerCommands(context, {
    copyLink: (attempt?: AttemptNode | Uri) => links.copy(attempt),
    exportAttempt: (attempt?: AttemptNode | Uri) =>
      exportAttempt(dependencies.transcripts, attempt),
  });
}

interface AttemptLinkDependencies {
  /** The extension's identifier, which its addresses begin with. */
  readonly extension: string;
  readonly tasks: TasksTree;
  readonly runs: Runs;
  readonly transcripts: Transcripts;
}

class AttemptLinks {
  readonly #dependencies: AttemptLinkDependencies;

  constructor(dependencies: AttemptLinkDependencies) {
    this.#dependencies = dependencies;
  }

  /** Throws a `UserError` if the workspace has no such attempt. */
  async open(address: Uri): Promise<void> {
    const link = parseLink(address);
    const { transcripts } = this.#dependencies;
    const uri = getNodeUri(await (link.attempt ? this.#findAttempt(link) : this.#findTask(link)));
    if (link.call === undefined) await transcripts.open(uri);
    else await transcripts.reveal(uri, link.call);
  }

  /** Copies the link of a node, of a transcript, or of the active transcript. */
  async copy(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const { extension, transcripts } = this.#dependencies;
    const uri = transcripts.resolveUri(attempt);
    const { trajectory } = await transcripts.read(uri);
    const location = readLocation(uri);
    const { task } = trajectory.header;
    let link: AttemptLink | undefined;
    if (location.kind === "task") link = { task };
    if (location.kind === "group") {
      const { run, step, line } = location;
      const { groups } = await indexGroups(getGroupsFile(run, step));
      const entry = groups.flatMap(it => it.entries).find(it => it.number === line.number);
      if (entry) link = { task, attempt: { run: basename(run), step, number: entry.attempt } };
    }
    if (!link)
      throw new UserError(
        "only tasks and attempts of runs have links",
        "send the trajectory's file instead",
      );
    const address = Uri.from({ scheme: env.uriScheme, authority: extension, ...formatLink(link) });
    await env.clipboard.writeText(address.toString(true));
    void showInformation(
      "The link is on the clipboard. It opens in a workspace with the same files.",
    );
  }

  async #findTask({ task }: AttemptLink): Promise<AttemptNode> {
    const found = await this.#dependencies.tasks.findEntry(task);
    if (found) return { kind: "task", ...found };
    throw new UserError(
      `no tasks file of this workspace has the task ${task}`,
      "open the folder that has it, or synthesize it again",
    );
  }

  async #findAttempt({ task, attempt }: AttemptLink): Promise<AttemptNode> {
    const { run, step, number } = attempt!;
    const monitor = this.#dependencies.runs.list().find(it => getRunName(it) === run);
    if (!monitor)
      throw new UserError(`this workspace has no run ${run}`, "open the folder that has it");
    const { groups } = await indexGroups(getGroupsFile(monitor.folder, step));
    const entry = groups.find(it => it.task === task)?.entries.find(it => it.attempt === number);
    if (entry) return { kind: "attempt", monitor, step, entry };
    throw new UserError(
      `step ${step} of ${run} has no attempt ${number + 1} at ${task}`,
      "only recorded steps have attempts; see the run in the Runs view",
    );
  }
}

/** Asks where to write the attempt of a node or a transcript, or of the active transcript. */
async function exportAttempt(
  transcripts: Transcripts,
  target: AttemptNode | Uri | undefined,
): Promise<void> {
  const uri = transcripts.resolveUri(target);
  const attempt = await transcripts.read(uri);
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const name = `${getTranscriptTitle(uri)}.html`;
  const file = await window.showSaveDialog({
    title: "Export Attempt",
    filters: { "Web page": ["html"] },
    ...(folder ? { defaultUri: Uri.joinPath(folder, name) } : {}),
  });
  if (!file) return;
  await workspace.fs.writeFile(file, new TextEncoder().encode(createPage(attempt)));
  const answer = await showInformation(`The attempt was exported to ${file.fsPath}.`, "Open");
  if (answer !== undefined) await env.openExternal(file);
}

function createPage({ trajectory, task, reward }: OpenAttempt): string {
  if ("unscorable" in reward) return createAttemptPage({ trajectory, task, reward });
  const { breakdowns, success, attempt } = reward;
  const paper = breakdowns.find(it => it.profile === paperProfile.name)!.total;
  return createAttemptPage({
    trajectory,
    task,
    reward: { breakdown: breakdowns[0], paper, success, note: describeReplaced(attempt) },
  });
}
