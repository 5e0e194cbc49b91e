/**
 * The controls of the VS Code toolkit that the pages use, registered once a page; only what is used
 * is bundled.
 */
import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeProgressRing,
} from "@vscode/webview-ui-toolkit";

export const registerControls = (): void =>
  void provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeProgressRing());
