/**
 * The commands that give a workspace servers of its own: write one in TypeScript, explore a third-
 * party server of `mcp.json` in sandboxes, and open the file of one.
 */
import { existsSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { CancellationError, Uri, window, workspace } from "vscode";
import { getCassetteFile } from "../../mcp/connected/cassette.ts";
import { getServerFile, suggestServerName } from "../../mcp/connected/serverFile.ts";
import { isRemote, type ServerEntry } from "../../mcp/mcpConfig.ts";
import { describeUrl } from "../../mcp/remoteSetting.ts";
import { createServerFiles, serverNamePattern } from "../../servers/own/newServer.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import { confirm, showProgress } from "../shared/notifications.ts";
import { findNode, forkProgram } from "../shared/program.ts";
import { type ProveFolder, requireTrust } from "../shared/proveFolder.ts";
import { askText, pickOne } from "../shared/quickInput.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { getSetting } from "../shared/settings.ts";
import { describeStart } from "./consent.ts";
import type { Connections } from "./connections.ts";
import type { ServersNode } from "./serversTree.ts";

interface OwnServerDependencies {
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
  readonly connections: Connections;
  /** The folder of the built programs. */
  readonly dist: string;
}

export class OwnServerCommands {
  readonly #dependencies: OwnServerDependencies;

  constructor(dependencies: OwnServerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Writes a small server in TypeScript, and opens it. */
  async create(): Promise<void> {
    requireTrust("writing a server");
    const { folder } = this.#dependencies;
    const prove = Uri.joinPath(folder.getPart("servers"), "..");
    const name = await this.#askName("my_library", "New Server");
    const files = Array.from(createServerFiles(name), ([path, text]) => ({
      uri: Uri.joinPath(prove, path),
      text,
    }));
    const existing = files.find(it => existsSync(it.uri.fsPath));
    if (existing) throw new UserError(`${existing.uri.fsPath} exists`, "choose another name");
    for (const { uri, text } of files)
      await workspace.fs.writeFile(uri, new TextEncoder().encode(text));
    this.#noteChange();
    await window.showTextDocument(files[0]!.uri);
  }

  /**
   * Tries the tools of a third-party server in sandboxes, as `prove-rl connect` does, or records
   * what one answers that cannot be reset, and opens the file that says what they do.
   */
  async explore(node: ServersNode | undefined): Promise<void> {
    requireTrust("exploring a server");
    const { folder } = this.#dependencies;
    const prove = Uri.joinPath(folder.getPart("servers"), "..").fsPath;
    const entry = node?.kind === "connection" ? node.entry : await this.#pickEntry();
    const name = await this.#askName(suggestServerName(entry.name), "Explore Server");
    const file = getServerFile(prove, name);
    const isKnown = existsSync(file);
    const again = isKnown ? ["--again"] : [];
    // what is recorded needs no server
    const isRecorded = !entry.reset && !isKnown && existsSync(getCassetteFile(prove, name));
    if (!isRecorded) {
      const isAllowed = await confirm({
        question: !entry.reset
          ? `Call tools of ${entry.name} that read, and record what they answer?`
          : isKnown
            ? `Explore ${entry.name} again and replace prove/servers/${name}.server.json?`
            : `Start ${entry.name} in sandboxes and try all its tools?`,
        detail: describeStart(entry),
        button: entry.reset ? "Explore" : "Record",
      });
      if (!isAllowed) throw new CancellationError();
    }
    if (!entry.reset && !isRecorded) await this.#run("record", entry, ["--as", name]);
    await this.#run("connect", entry, ["--as", name, ...again]);
    this.#noteChange();
    await window.showTextDocument(Uri.file(file));
  }

  /** Opens the file that defines or describes a server of the workspace. */
  async openFile(node: ServersNode | undefined): Promise<void> {
    if (node?.kind !== "server") throw new Error("the command needs the node of a server");
    const { folder, name } = node.server;
    const servers = this.#dependencies.folder.getPart("servers");
    const file =
      folder === undefined
        ? getServerFile(join(servers.fsPath, ".."), name)
        : join(folder, "server.ts");
    await window.showTextDocument(Uri.file(file));
  }

  async #pickEntry(): Promise<ServerEntry> {
    const entries = [...this.#dependencies.connections.readEntries().entries.values()];
    if (entries.length === 0)
      throw new UserError(
        "prove/mcp.json names no server",
        "run PROVE: Connect Server… to add one",
      );
    const items = entries.map(entry => ({
      label: entry.name,
      description: isRemote(entry)
        ? describeUrl(entry.url)
        : [entry.command, ...entry.args].join(" "),
      iconPath: icons.connection,
      entry,
    }));
    return (await pickOne(items, { title: "Explore Server", text: "Which server to explore" }))
      .entry;
  }

  async #askName(value: string, title: string): Promise<string> {
    const taken = new Set((await this.#dependencies.definitions.loadShipped()).map(it => it.name));
    return askText(
      { title, text: "Its name in tasks" },
      {
        value,
        validate: text =>
          !serverNamePattern.test(text)
            ? "enter lower-case letters, digits and _, beginning with a letter"
            : taken.has(text)
              ? `${text} is a server that ships`
              : undefined,
      },
    );
  }

  /** Runs the terminal program, which explores in processes of its own and removes what it left. */
  async #run(command: "connect" | "record", entry: ServerEntry, args: readonly string[]) {
    const { dist, folder } = this.#dependencies;
    const node = await findNode(getSetting("node"));
    const work = command === "record" ? "Recording" : "Exploring";
    await showProgress(`PROVE: ${work} ${entry.name}`, async (progress, token) => {
      const program = forkProgram(
        node,
        dist,
        [command, entry.name, "--trust-server", ...args],
        folder.workspacePath,
      );
      token.onCancellationRequested(() => program.kill());
      let text = "";
      program.stderr?.on("data", (bytes: Buffer) => {
        text = (text + bytes.toString()).slice(-4000);
        const line = text.trimEnd().split("\n").at(-1);
        if (line) progress.report({ message: line, increment: 0 });
      });
      const [code] = (await once(program, "exit")) as [number | null];
      if (token.isCancellationRequested) throw new CancellationError();
      if (code === 0) return;
      const [, what = `${work} ${entry.name} ended with code ${code}`, remedy = "run it again"] =
        /(?:^|\n)prove-rl: (.*)\n {2}(.*)/.exec(text) ?? [];
      throw new UserError(what, remedy);
    });
  }

  /** A file watcher may miss what was written here. */
  #noteChange(): void {
    for (const it of ["servers", "fixtures"] as const) this.#dependencies.folder.noteChange(it);
  }
}
