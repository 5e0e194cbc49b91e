/**
 * The commands on third-party servers: edit the file that names them, start one, call its tools,
 * restart it, fork it and end it.
 */
import { FileSystemError, window, workspace } from "vscode";
import type { ConnectedTool } from "../../mcp/toolList.ts";
import { allowsTool, type ServerEntry } from "../../mcp/mcpConfig.ts";
import { UserError } from "../../userError.ts";
import { askArguments } from "./argumentPrompts.ts";
import { isConnectedNode } from "./connectedNodes.ts";
import type { CallDocuments } from "./callDocuments.ts";
import type { Connection, Connections } from "./connections.ts";
import { formatCount } from "../shared/text.ts";
import { icons } from "../shared/icons.ts";
import { showWarning } from "../shared/notifications.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import type { NodeOf, ServersNode } from "./serversTree.ts";
import type { ArgumentDrafts } from "./storedSessions.ts";

const exampleConfiguration = `{
  "servers": {
    "memory": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-memory"],
      "env": { "MEMORY_FILE_PATH": "\${workspaceFolder}/prove/memory.jsonl" }
    }
  }
}
`;

export class ConnectionCommands {
  readonly #connections: Connections;
  readonly #drafts: ArgumentDrafts;
  readonly #documents: CallDocuments;

  constructor(connections: Connections, drafts: ArgumentDrafts, documents: CallDocuments) {
    this.#connections = connections;
    this.#drafts = drafts;
    this.#documents = documents;
  }

  /** Opens the file that names third-party servers, and creates it with an example if missing. */
  async openConfiguration(): Promise<void> {
    const { file } = this.#connections;
    if (!file)
      throw new ActionableError("no folder is open to store mcp.json in", "open a folder", {
        title: "Open Folder",
        command: "vscode.openFolder",
      });
    requireTrust("connecting a server");
    try {
      await workspace.fs.stat(file);
    } catch (error) {
      // a file that may not be read must not be overwritten
      if (!(error instanceof FileSystemError && error.code === "FileNotFound")) throw error;
      await workspace.fs.writeFile(file, new TextEncoder().encode(exampleConfiguration));
    }
    await window.showTextDocument(file);
  }

  async open(node: ServersNode | undefined): Promise<void> {
    await this.#connections.open(getEntry(node));
  }

  /** Calls a tool in a session, and asks for what the node does not determine. */
  async call(node: ServersNode | undefined): Promise<void> {
    requireTrust("calling a tool");
    const live = await this.#chooseConnection(node);
    const tool = node?.kind === "connectedTool" ? node.tool : await pickTool(live);
    const args = await askArguments({ tool, entities: async () => [], drafts: this.#drafts });
    const call = await this.#connections.call(live, tool.name, args);
    await this.#documents.showNewCall(live.number, call);
  }

  async reset(node: ServersNode | undefined): Promise<void> {
    await this.#connections.reset(getConnection(node));
  }

  async fork(node: ServersNode | undefined): Promise<void> {
    const live = getConnection(node);
    const differences = await this.#connections.fork(live);
    if (differences.length === 0) return;
    const names = differences.map(it => it.call.name).join(", ");
    void showWarning(
      `The fork of session ${live.number} answered some calls differently: ${names}. State that ${live.entry.name} stores outside its process is not forked.`,
    );
  }

  async close(node: ServersNode | undefined): Promise<void> {
    await this.#connections.close(getConnection(node));
  }

  async showCall({ live, call }: NodeOf<"connectedCall">): Promise<void> {
    await this.#documents.showCall(live.number, call);
  }

  async #chooseConnection(node: ServersNode | undefined): Promise<Connection> {
    if (node?.kind === "connected") return node.live;
    const entry = getEntry(node);
    const open = this.#connections.listByEntry(entry.name);
    if (open.length === 0) return this.#connections.open(entry);
    if (open.length === 1) return open[0]!;
    return (
      await pickOne(
        open.map(live => ({
          label: `Session ${live.number}`,
          description: formatCount(live.session.calls.length, "call"),
          iconPath: icons.session,
          live,
        })),
        "Which session",
      )
    ).live;
  }
}

/** Asks for a tool among those that may be called. */
async function pickTool({ session, entry }: Connection): Promise<ConnectedTool> {
  const allowed = [...session.tools.values()].filter(it => allowsTool(entry, it));
  if (allowed.length === 0)
    throw new UserError(
      `${entry.name} has no read-only tool`,
      `add a reset to its entry in prove/mcp.json, which gives each session a copy, or "disposable": true if its tools may change everything they can reach`,
    );
  const items = allowed.map(tool => ({
    label: tool.name,
    detail: tool.summary,
    iconPath: tool.effect === "read" ? icons.readTool : icons.writeTool,
    tool,
  }));
  return (await pickOne(items, "Which tool to call")).tool;
}

function getEntry(node: ServersNode | undefined): ServerEntry {
  if (node && isConnectedNode(node) && "entry" in node) return node.entry;
  return getConnection(node).entry;
}

function getConnection(node: ServersNode | undefined): Connection {
  if (node && isConnectedNode(node) && "live" in node) return node.live;
  throw new Error("the command needs the node of a connected server");
}
