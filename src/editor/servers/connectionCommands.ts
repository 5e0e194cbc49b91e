/**
 * What a person does with third-party servers: name one, start it, call its tools, start it over,
 * end it.
 */
import { Uri, window, workspace } from "vscode";
import type { CompletedCall } from "../../environment/outcome.ts";
import type { ConnectedTool } from "../../mcp/connect.ts";
import type { Entry } from "../../mcp/entries.ts";
import { UserError } from "../../userError.ts";
import { visible } from "../../trajectory/visible.ts";
import { askArguments } from "./argumentPrompts.ts";
import { isConnectedNode, type ConnectedNode } from "./connectedNodes.ts";
import type { Connection, Connections } from "./connections.ts";
import { icons } from "../shared/icons.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import type { ServersNode } from "./serversTree.ts";

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

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Opens the file that names third-party servers, with an example in it where there was none. */
  async openConfiguration(): Promise<void> {
    const { file } = this.#connections;
    if (!file)
      throw new ActionableError("no folder is open to keep mcp.json in", "open one", {
        title: "Open Folder",
        command: "vscode.openFolder",
      });
    requireTrust("naming a server to connect");
    try {
      await workspace.fs.stat(file);
    } catch {
      await workspace.fs.writeFile(file, new TextEncoder().encode(exampleConfiguration));
    }
    await window.showTextDocument(file);
  }

  async open(node: ServersNode | undefined): Promise<void> {
    await this.#connections.open(entryOfNode(node));
  }

  /** Calls a tool in a session, asking for whatever the node does not say. */
  async call(node: ServersNode | undefined): Promise<void> {
    requireTrust("calling a tool");
    const live = await this.#chooseConnection(node);
    const tool = node?.kind === "connectedTool" ? node.tool : await pickTool(live);
    const args = await askArguments({ tool, entities: () => [] });
    const call = await this.#connections.call(live, tool.name, args);
    const message = `${visible(tool.name)}: ${call.outcome.kind} — ${shorten(visible(call.outcome.kind === "ok" ? JSON.stringify(call.outcome.value) : call.outcome.message))}`;
    const shown =
      call.outcome.kind === "ok"
        ? window.showInformationMessage(message, "Show Call")
        : window.showWarningMessage(message, "Show Call");
    void shown.then(
      chosen =>
        chosen &&
        this.showCall({
          kind: "connectedCall",
          live,
          call,
          number: live.session.calls.indexOf(call) + 1,
        }),
    );
  }

  async reset(node: ServersNode | undefined): Promise<void> {
    await this.#connections.reset(connectionOfNode(node));
  }

  async fork(node: ServersNode | undefined): Promise<void> {
    const live = connectionOfNode(node);
    const differences = await this.#connections.fork(live);
    if (differences.length === 0) return;
    const names = differences.map(it => it.call.name).join(", ");
    void window.showWarningMessage(
      `The fork of session ${live.number} was answered otherwise than the session itself: ${visible(names)}. What ${live.entry.name} keeps outside its process is not forked.`,
    );
  }

  async close(node: ServersNode | undefined): Promise<void> {
    await this.#connections.close(connectionOfNode(node));
  }

  async showCall({
    live,
    number,
    call,
  }: Extract<ConnectedNode, { kind: "connectedCall" }>): Promise<void> {
    await window.showTextDocument(
      Uri.from({
        scheme: "prove",
        path: `/connected/${live.number}/${number}/${call.name.replaceAll(/[^\w.-]/g, "_")}.json`,
      }),
      { preview: true, preserveFocus: true },
    );
  }

  /** The text of a read-only document of a call. */
  readDocument(path: string): string {
    const [, session, number] = /^\/connected\/(\d+)\/(\d+)\//.exec(path) ?? [];
    const call: CompletedCall | undefined = this.#connections.get(Number(session))?.session.calls[
      Number(number) - 1
    ];
    return call
      ? `${JSON.stringify({ call: call.name, arguments: call.arguments, outcome: call.outcome }, null, 2)}\n`
      : "// this session was closed or started over\n";
  }

  async #chooseConnection(node: ServersNode | undefined): Promise<Connection> {
    if (node?.kind === "connected") return node.live;
    const entry = entryOfNode(node);
    const open = this.#connections.listByEntry(entry.name);
    if (open.length === 0) return this.#connections.open(entry);
    if (open.length === 1) return open[0]!;
    return (
      await pickOne(
        open.map(live => ({
          label: `Session ${live.number}`,
          description: `${live.session.calls.length} calls`,
          iconPath: icons.session,
          live,
        })),
        "Which session",
      )
    ).live;
  }
}

async function pickTool({ session, entry }: Connection): Promise<ConnectedTool> {
  const open = [...session.tools.values()].filter(it => it.effect === "read" || entry.isDisposable);
  if (open.length === 0)
    throw new UserError(
      `${entry.name} has no tool that is marked as read-only`,
      `write "disposable": true into its entry in prove/mcp.json if everything it can reach may be changed`,
    );
  const items = open.map(tool => ({
    label: visible(tool.name),
    detail: visible(tool.summary),
    iconPath: tool.effect === "read" ? icons.readTool : icons.writeTool,
    tool,
  }));
  return (await pickOne(items, "Which tool to call")).tool;
}

function entryOfNode(node: ServersNode | undefined): Entry {
  if (node && isConnectedNode(node) && "entry" in node) return node.entry;
  return connectionOfNode(node).entry;
}

function connectionOfNode(node: ServersNode | undefined): Connection {
  if (node && isConnectedNode(node) && "live" in node) return node.live;
  throw new Error("the command was given no connected server");
}

const shorten = (text: string) => (text.length > 160 ? `${text.slice(0, 159)}…` : text);
