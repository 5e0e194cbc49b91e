/** The reward profile under which everything on screen shows attempts: a setting. */
import { ConfigurationTarget, workspace, type Disposable } from "vscode";
import { defaultProfile, profiles, type Profile } from "../../reward/profiles.ts";
import { pickOne } from "./quickInput.ts";
import { getSetting } from "./settings.ts";

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
  workspace.onDidChangeConfiguration(it => {
    if (it.affectsConfiguration("prove.rewardProfile")) listen();
  });
