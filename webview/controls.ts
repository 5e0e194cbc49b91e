/**
 * The controls of the VS Code webview toolkit that the pages use. Only these are bundled.
 */
import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeProgressRing,
} from "@vscode/webview-ui-toolkit";

/** Registers the controls; a page does so once. */
export const registerControls = (): void =>
  void provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeProgressRing());
