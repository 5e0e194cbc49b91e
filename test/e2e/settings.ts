/** Settings for a workbench without prompts, downloads and animations. */

/** For a person who tries the extension. */
export const quietSettings = {
  // the color scheme of the browser selects the theme
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
  // a tooltip on the row where the mouse happens to be hides the next row from a click
  "workbench.hover.delay": 1_000_000,
  "workbench.hover.reducedDelay": 1_000_000,
  "window.commandCenter": false,
  "git.enabled": false,
  "debug.openDebug": "openOnSessionStart",
  "debug.toolBarLocation": "docked",
  "debug.internalConsoleOptions": "neverOpen",
  "files.hotExit": "off",
  // as in a desktop window: in a browser, files are saved by themselves after a second
  "files.autoSave": "off",
  "files.simpleDialog.enable": true,
};
