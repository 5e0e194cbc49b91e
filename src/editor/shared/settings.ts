/**
 * Typed access to the settings that package.json declares. One of them is the reward profile under
 * which everything on screen shows attempts.
 */
import { ConfigurationTarget, type Disposable, type Uri, workspace } from "vscode";
import { defaultProfile, type Profile, profiles } from "../../reward/profiles.ts";
import { pickOne } from "./quickInput.ts";

interface Settings {
  readonly folder: string;
  readonly node: string;
  readonly python: string;
  readonly agentServers: readonly string[];
  readonly rewardProfile: string;
  readonly rewardDecimals: number;
  readonly evaluateAtEnd: boolean;
  readonly "endpoint.url": string;
  readonly "endpoint.model": string;
}

/**
 * Reads the current value of a setting; `scope` is the folder for a setting with resource scope.
 */
export const getSetting = <Key extends keyof Settings>(key: Key, scope?: Uri): Settings[Key] =>
  workspace.getConfiguration("prove", scope).get<Settings[Key]>(key)!;

/** The profile of the setting; the default one if a settings file names one that does not exist. */
export const getRewardProfile = (): Profile =>
  profiles.find(it => it.name === getSetting("rewardProfile")) ?? defaultProfile;

/** Changes the setting, in the workspace if it is set there, otherwise for the user. */
export async function setRewardProfile(name: string): Promise<void> {
  const settings = workspace.getConfiguration("prove");
  const isInWorkspace = settings.inspect("rewardProfile")?.workspaceValue !== undefined;
  await settings.update(
    "rewardProfile",
    name,
    isInWorkspace ? ConfigurationTarget.Workspace : ConfigurationTarget.Global,
  );
}

/** Asks for a profile and shows everything under it. */
export async function selectRewardProfile(): Promise<void> {
  const current = getRewardProfile();
  const items = profiles.map(({ name, summary }) => ({
    label: name,
    ...(name === current.name ? { description: "current" } : {}),
    detail: summary,
  }));
  const { label } = await pickOne(items, {
    title: "Select Reward Profile",
    text: "The profile under which attempts are shown",
  });
  await setRewardProfile(label);
}

export const onDidChangeRewardProfile = (listen: () => void): Disposable =>
  onDidChangeSetting("rewardProfile", listen);

export const onDidChangeSetting = (key: keyof Settings, listen: () => void): Disposable =>
  workspace.onDidChangeConfiguration(it => {
    if (it.affectsConfiguration(`prove.${key}`)) listen();
  });
