/** Synthesizing tasks from the editor: asks what to make, hands the work to the terminal program, shows how far it is. */
import { basename } from "node:path";
import { CancellationError, ProgressLocation, Uri, window, workspace, type CancellationToken, type Progress } from "vscode";
import { Mistake } from "../mistake.ts";
import type { WorkAsk, WorkSays } from "../protocol/work.ts";
import type { Definitions } from "./definitions.ts";
import { icons } from "./icons.ts";
import { forkProgram, findNode } from "./program.ts";
import { mustBeTrusted, type ProveFolder } from "./proveFolder.ts";
import { setting } from "./settings.ts";
import type { TasksTree } from "./tasksTree.ts";

type Ask = Extract<WorkAsk, { kind: "synthesize" }>;

export class Synthesis {
  readonly #folder: ProveFolder;
  readonly #definitions: Definitions;
  readonly #tasks: TasksTree;
  readonly #dist: string;

  constructor(extension: Uri, folder: ProveFolder, definitions: Definitions, tasks: TasksTree) {
    this.#dist = Uri.joinPath(extension, "dist").fsPath;
    this.#folder = folder;
    this.#definitions = definitions;
    this.#tasks = tasks;
  }

  /** Asks for servers, count and seed, and synthesizes into a file of its own. */
  async ask(): Promise<void> {
    mustBeTrusted("synthesizing tasks");
    const tasks = this.#folder.part("tasks");
    const servers = await this.#pickServers();
    const count = await askNumber("How many tasks", "300", 1, 100_000);
    const seed = await askNumber("Seed: the same one gives the same tasks", "1", 0, 2 ** 31);
    const all = (await this.#definitions.servers()).length;
    const name = servers.length === all ? "all" : servers.slice(0, 3).join("-") + (servers.length > 3 ? `-and-${servers.length - 3}` : "");
    const file = await unusedFile(tasks, `${name}-${count}-seed-${seed}`);
    const report = await this.#synthesize({ kind: "synthesize", out: file.fsPath, count, seed, servers, fixtures: this.#folder.fixtures });
    this.#tasks.refresh();
    void window.showInformationMessage(report.map(it => it.replace(file.fsPath, workspace.asRelativePath(file))).join(", "));
  }

  /** Copies the example's tasks into the workspace. */
  async copyExample(): Promise<void> {
    mustBeTrusted("copying the example");
    const from = Uri.joinPath(this.#folder.resources, "example", "prove", "tasks");
    for (const [name] of await workspace.fs.readDirectory(from))
      await workspace.fs.copy(Uri.joinPath(from, name), Uri.joinPath(this.#folder.part("tasks"), name), { overwrite: true });
    this.#tasks.refresh();
  }

  async #pickServers(): Promise<readonly string[]> {
    const items = (await this.#definitions.servers()).map(it => ({ label: it.name, description: `${it.tools.size} tools`, iconPath: icons.server, picked: true }));
    const chosen = await window.showQuickPick(items, { canPickMany: true, title: "Synthesize Tasks", placeHolder: "On which servers" });
    if (!chosen) throw new CancellationError();
    if (chosen.length === 0) throw new Mistake("no server was chosen", "choose at least one");
    return chosen.map(it => it.label);
  }

  async #synthesize(ask: Ask): Promise<readonly string[]> {
    const node = await findNode(setting("node"));
    const options = { location: ProgressLocation.Notification, title: `Synthesizing ${basename(ask.out, ".tasks.jsonl")}`, cancellable: true };
    return window.withProgress(options, async (progress, token) => {
      const child = forkProgram(node, this.#dist, ["work"], this.#folder.resources.fsPath);
      try {
        return await followed(child, ask, progress, token);
      } finally {
        child.kill();
      }
    });
  }
}

/** Sends the ask, shows what is said, and resolves with the report; a cancel is said first and enforced by the caller. */
function followed(
  child: ReturnType<typeof forkProgram>,
  ask: Ask,
  progress: Progress<{ message: string; increment: number }>,
  token: CancellationToken,
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let shown = 0;
    let stderr = "";
    child.stderr?.on("data", (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-2000)));
    child.once("error", cause => reject(new Mistake(`the terminal program did not start (${cause.message})`, "check the setting prove.node", { cause })));
    child.once("exit", code => reject(new Mistake(`the terminal program ended with ${code} before its work was done`, stderr.trim() || "run it again", { cause: new Error(stderr) })));
    child.on("message", message => {
      const said = message as WorkSays;
      switch (said.kind) {
        case "progress":
          progress.report({ message: `${said.done} of ${said.total} ${said.doing}`, increment: (100 * (said.done - shown)) / Math.max(1, said.total) });
          shown = said.done;
          return;
        case "done":
          return resolve(said.report);
        case "cancelled":
          return reject(new CancellationError());
        case "failed":
          return reject(new Mistake(said.what, said.remedy));
        case "model-ask":
          return void child.send({ kind: "model-failed", id: said.id, what: "the editor offers no language model here" } satisfies WorkAsk);
        case "model-cancel":
          return;
        default:
          reject(new Error(`the terminal program said ${JSON.stringify(said satisfies never)}`));
      }
    });
    token.onCancellationRequested(() => {
      child.send({ kind: "cancel" } satisfies WorkAsk);
      setTimeout(() => reject(new CancellationError()), 2000).unref();
    });
    child.send(ask);
  });
}

/** Asks for a whole number. Throws a `CancellationError` on Escape. */
export async function askNumber(prompt: string, value: string, least: number, most: number): Promise<number> {
  const typed = await window.showInputBox({
    prompt,
    value,
    ignoreFocusOut: true,
    validateInput: text => (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? undefined : `a whole number from ${least} to ${most}`),
  });
  if (typed === undefined) throw new CancellationError();
  return Number(typed);
}

async function unusedFile(folder: Uri, name: string): Promise<Uri> {
  for (let n = 1; ; n++) {
    const file = Uri.joinPath(folder, `${name}${n === 1 ? "" : `-${n}`}.tasks.jsonl`);
    const isThere = await workspace.fs.stat(file).then(() => true, () => false);
    if (!isThere) return file;
  }
}
