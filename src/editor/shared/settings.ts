/** Typed access to the settings that package.json declares. */
import { workspace, type Uri } from "vscode";

interface Settings {
  readonly folder: string;
  readonly node: string;
  readonly python: string;
  readonly agentServers: readonly string[];
  readonly rewardProfile: string;
  readonly "endpoint.url": string;
  readonly "endpoint.model": string;
}

/**
 * Reads the current value of a setting; `scope` is the folder for a setting with resource scope.
 */
export const getSetting = <Key extends keyof Settings>(key: Key, scope?: Uri): Settings[Key] =>
  workspace.getConfiguration("prove", scope).get<Settings[Key]>(key)!;
