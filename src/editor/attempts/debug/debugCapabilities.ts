/** What the debugger of trajectories can do, as the debug adapter protocol names it. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { exceptionFilters } from "./exceptionFilters.ts";

export const debugCapabilities: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsStepBack: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsFunctionBreakpoints: true,
  supportsDataBreakpoints: true,
  supportsExceptionFilterOptions: true,
  supportsExceptionInfoRequest: true,
  supportsBreakpointLocationsRequest: true,
  supportsEvaluateForHovers: true,
  supportsCompletionsRequest: true,
  completionTriggerCharacters: [".", "("],
  supportsGotoTargetsRequest: true,
  supportsRestartFrame: true,
  supportsRestartRequest: true,
  supportsTerminateRequest: true,
  exceptionBreakpointFilters: [...exceptionFilters],
};
