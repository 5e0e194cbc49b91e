/** Registers links to attempts, and their export. */
import { window, type ExtensionContext, type Uri } from "vscode";
import { registerCommands } from "../shared/commands.ts";
import { reportRejection } from "../shared/report.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import { exportAttempt } from "./attemptExport.ts";
import { AttemptLinks, type AttemptLinkDependencies } from "./attemptLinks.ts";

export function registerLinks(
  context: ExtensionContext,
  dependencies: Omit<AttemptLinkDependencies, "extension">,
): void {
  const links = new AttemptLinks({ ...dependencies, extension: context.extension.id });
  context.subscriptions.push(
    window.registerUriHandler({ handleUri: uri => reportRejection(links.open(uri)) }),
  );
  registerCommands(context, {
    copyLink: (attempt?: AttemptNode | Uri) => links.copy(attempt),
    exportAttempt: (attempt?: AttemptNode | Uri) =>
      exportAttempt(dependencies.transcripts, attempt),
  });
}
