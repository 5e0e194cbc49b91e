/** The pages of groups: the attempts at one task of a step of a run, side by side. */
import { basename } from "node:path";
import { commands, type Disposable, type Uri, type WebviewPanel, window } from "vscode";
import { z } from "zod";
import type { AttemptView } from "../../protocol/attemptsPage.ts";
import type { GroupPage, GroupView } from "../../protocol/groupPage.ts";
import { getGroupsFile } from "../../run/folder.ts";
import { type GroupLine, parseGroupLine } from "../../run/group.ts";
import { readJsonAt } from "../../storage/lineIndex.ts";
import { UserError } from "../../userError.ts";
import {
  type AttemptNode,
  createTranscriptUri,
  isTranscript,
  parseRow,
  parseSubject,
  pickLineRange,
} from "../attempts/attemptLocation.ts";
import { type GroupEntry, indexGroups } from "../attempts/groupIndex.ts";
import { readLocation } from "../attempts/storedLocation.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import { PageCollection, type PageContent } from "../shared/page.ts";
import { answer, answerPlain } from "../shared/pageSecurity.ts";
import { requireWorkspacePath } from "../shared/proveFolder.ts";
import type { Comparison } from "./comparison.ts";
import { createGroupView } from "./groupView.ts";

const subjectSchema = z.object({ run: z.string(), step: z.int().min(1), task: z.string() });

const columnParams = z.object({ column: z.int().min(0) });

/** The attempts at one task of a step; `run` is the run's folder. */
type GroupSubject = z.infer<typeof subjectSchema>;

export class GroupPages implements Disposable {
  /** By the subject as JSON. */
  readonly #pages: PageCollection<GroupPage>;

  constructor(extensionUri: Uri, comparison: Comparison) {
    this.#pages = new PageCollection(extensionUri, it =>
      createContent(JSON.parse(it) as GroupSubject, comparison),
    );
  }

  /** Shows the group of a node, or that of the attempt whose transcript is active. */
  async open(node: RunsNode | RowNode | GroupSubject | undefined): Promise<void> {
    const subject = findSubject(node) ?? (await findActiveSubject());
    // a group that cannot be read throws here, before a page is opened
    await listEntries(subject);
    this.#pages.show(JSON.stringify(subject));
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, text: unknown): void {
    const subject = subjectSchema.parse(JSON.parse(String(text)));
    requireWorkspacePath(subject.run);
    this.#pages.restore(panel, JSON.stringify(subject));
  }

  dispose(): void {
    this.#pages.dispose();
  }
}

function createContent(subject: GroupSubject, comparison: Comparison): PageContent<GroupPage> {
  return {
    options: {
      name: "group",
      title: `Group: ${subject.task}, step ${subject.step}`,
      icon: "attempts.svg",
    },
    answers: {
      load: answerPlain(() => loadView(subject)),
      open: answer(columnParams.extend({ view: viewSchema }), async ({ column, view }) =>
        openAttemptIn(await findUri(subject, column), view),
      ),
      compare: answer(columnParams, async ({ column }) => {
        await comparison.compareWithTeacher(await findUri(subject, column));
        return null;
      }),
    },
  };
}

/** The address of the attempt in a column. */
async function findUri(subject: GroupSubject, column: number): Promise<Uri> {
  const entry = (await listEntries(subject))[column];
  if (!entry) throw new UserError("the step has changed", "open the group again");
  const { run, step, task } = subject;
  return createTranscriptUri(
    { kind: "group", run, step, line: pickLineRange(entry) },
    `${task} attempt ${entry.attempt + 1}`,
  );
}

/**
 * The entries of a group: the one with the highest reward, beside it the one with the lowest, with
 * which it is compared most often, and then the others from the highest reward on.
 */
async function listEntries({ run, step, task }: GroupSubject): Promise<readonly GroupEntry[]> {
  const { groups } = await indexGroups(getGroupsFile(run, step));
  const entries = groups.find(it => it.task === task)?.entries;
  if (!entries)
    throw new UserError(
      `step ${step} of ${basename(run)} has no attempts at ${task}`,
      "choose a group from the Runs view",
    );
  const sorted = entries.toSorted((a, b) => b.total - a.total || a.attempt - b.attempt);
  return [...sorted.slice(0, 1), ...sorted.slice(1).slice(-1), ...sorted.slice(1, -1)];
}

async function loadView(subject: GroupSubject): Promise<GroupView> {
  const { run, step } = subject;
  const file = getGroupsFile(run, step);
  const lines: GroupLine[] = [];
  for (const it of await listEntries(subject)) {
    const line = parseGroupLine(await readJsonAt(file, it));
    if (!line)
      throw new UserError(
        `${file}:${it.number} is not an attempt`,
        "open it with the version of PROVE that wrote it",
      );
    lines.push(line);
  }
  return createGroupView({ subject: JSON.stringify(subject), run: basename(run), step }, lines);
}

/** A row of a table, whose menu has the command. */
type RowNode = Extract<AttemptNode, { kind: "row" }>;

function findSubject(
  node: RunsNode | RowNode | GroupSubject | undefined,
): GroupSubject | undefined {
  if (!node) return undefined;
  if (!("kind" in node)) return node;
  if (node.kind === "row") {
    const { step, task } = parseRow(node.row);
    return { run: parseSubject(node.subject).path, step: step!, task };
  }
  if (node.kind === "group")
    return { run: node.monitor.folder, step: node.step, task: node.group.task };
  if (node.kind === "attempt")
    return { run: node.monitor.folder, step: node.step, task: node.entry.task };
  return undefined;
}

/** The group of the attempt whose transcript is active. Throws a `UserError` if there is none. */
async function findActiveSubject(): Promise<GroupSubject> {
  const uri = window.activeTextEditor?.document.uri;
  const location = uri && isTranscript(uri) ? readLocation(uri) : undefined;
  if (location?.kind === "group") {
    const { run, step, line } = location;
    const { groups } = await indexGroups(getGroupsFile(run, step));
    const group = groups.find(it => it.entries.some(({ offset }) => offset === line.offset));
    if (group) return { run, step, task: group.task };
  }
  throw new UserError("no attempt of a run is open", "run the command on a group in the Runs view");
}

const openCommands: Readonly<Record<AttemptView, string>> = {
  transcript: "prove.openTranscript",
  debugger: "prove.stepTrajectory",
  reward: "prove.showReward",
};

export const viewSchema = z.enum(["transcript", "debugger", "reward"]);

/** Opens the attempt of a transcript's address; the command shows its own errors. */
export async function openAttemptIn(uri: Uri, view: AttemptView): Promise<null> {
  await commands.executeCommand(openCommands[view], uri);
  return null;
}
