/** Settings for a workbench that asks nothing, fetches nothing and moves nothing on its own. */

/** For a person who tries the extension: quiet, but a workbench as they know it. */
export const quietSettings = {
  // the browser's preferred scheme chooses the theme
  "window.autoDetectColorScheme": true,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "workbench.enableExperiments": false,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "update.mode": "none",
  "npm.fetchOnlinePackageInfo": false,
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
};

export const testSettings = {
  ...quietSettings,
  "security.workspace.trust.enabled": false,
  "workbench.reduceMotion": "on",
  "window.commandCenter": false,
  "git.enabled": false,
  "debug.openDebug": "openOnSessionStart",
  "debug.toolBarLocation": "docked",
  "debug.internalConsoleOptions": "neverOpen",
  "files.hotExit": "off",
  "files.simpleDialog.enable": true,
};
