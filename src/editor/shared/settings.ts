/** The settings of package.json as a typed table. */
import { workspace, type Uri } from "vscode";

interface Settings {
  readonly folder: string;
  readonly node: string;
  readonly agentServers: readonly string[];
  readonly "endpoint.url": string;
  readonly "endpoint.model": string;
}

/** A setting's value now; one with resource scope, for that folder. */
export const getSetting = <Key extends keyof Settings>(key: Key, scope?: Uri): Settings[Key] =>
  workspace.getConfiguration("prove", scope).get<Settings[Key]>(key)!;
