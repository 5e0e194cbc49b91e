/**
 * Tools as signatures in the system message, in place of the JSON Schemas that a chat template
 * shows: for models that are trained to read them. Calls are written as the template writes them.
 */
import type { ToolDescription } from "../../environment/toolDescription.ts";
import { formatToolSignature } from "../../environment/toolSignature.ts";
import type { CallSyntax } from "../../policy/callText/callText.ts";

/** How a model reads tools: as the JSON Schemas of its chat template, or as signatures. */
export type ToolStyle = "json" | "compact";

/** The signatures, one in each line. */
export const formatSignatures = (tools: readonly ToolDescription[]): string =>
  tools.map(formatToolSignature).join("\n");

/** The system message. `protect` is applied to all but the example of a call. */
export function addSignatures(
  instructions: string,
  tools: readonly ToolDescription[],
  { syntax, protect = it => it }: { syntax: CallSyntax; protect?: (text: string) => string },
): string {
  if (tools.length === 0) return protect(instructions);
  return `${protect(instructions)}

Tools that you can call, with a question mark at optional arguments:
${protect(formatSignatures(tools))}
Write a call like this:
${examples[syntax]}`;
}

const examples: Readonly<Record<CallSyntax, string>> = {
  hermes: '<tool_call>\n{"name": "tool", "arguments": {"key": "value"}}\n</tool_call>',
  xml: "<tool_call>\n<function=tool>\n<parameter=key>\nvalue\n</parameter>\n</function>\n</tool_call>",
  granite: '<|tool_call|>[{"name": "tool", "arguments": {"key": "value"}}]',
  llama: '{"name": "tool", "parameters": {"key": "value"}}',
};
