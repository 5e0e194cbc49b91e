/** The nodes of the Servers view. */
import type { Server, Tool } from "../../environment/server.ts";
import type { SessionCall } from "../../service/tableSession.ts";
import type { FixtureFile } from "../fixtures/fixtureFiles.ts";
import type { ValueNode } from "../shared/valueTree.ts";
import type { ConnectedNode } from "./connectedNodes.ts";
import type { LiveSession } from "./liveSessions.ts";

export type ServersNode = OwnNode | ConnectedNode;

/** A node of one of the product's own servers. */
export type OwnNode =
  | { readonly kind: "server"; readonly server: Server }
  | { readonly kind: "fixtures"; readonly server: Server }
  | { readonly kind: "tools"; readonly server: Server }
  | { readonly kind: "fixture"; readonly file: FixtureFile }
  | { readonly kind: "tool"; readonly tool: Tool }
  | { readonly kind: "session"; readonly live: LiveSession; readonly server: string }
  | {
      readonly kind: "more" | "moreFixtures";
      readonly server: string;
      readonly count: number;
    }
  | { readonly kind: "calls"; readonly live: LiveSession; readonly server: string }
  | {
      readonly kind: "call";
      readonly live: LiveSession;
      readonly server: string;
      readonly call: SessionCall;
    }
  | { readonly kind: "value"; readonly live: LiveSession; readonly value: ValueNode };

/** The nodes of one kind. */
export type NodeOf<Kind extends ServersNode["kind"]> = Extract<ServersNode, { kind: Kind }>;

/** Returns an id that stays the same when the tree is refreshed. */
export function getNodeId(node: OwnNode): string {
  switch (node.kind) {
    case "server":
    case "fixtures":
    case "tools":
      return `${node.kind}/${node.server.name}`;
    case "fixture":
      return `fixture/${node.file.server}/${node.file.name}`;
    case "tool":
      return `tool/${node.tool.name}`;
    case "more":
    case "moreFixtures":
      return `${node.kind}/${node.server}`;
    case "session":
    case "calls":
      return `${node.kind}/${node.live.number}/${node.server}`;
    case "call":
      return `call/${node.live.number}/${node.server}/${node.call.number}`;
    case "value":
      return `value/${node.live.number}${node.value.path}`;
    default:
      throw new Error(`no id for ${JSON.stringify(node satisfies never)}`);
  }
}
