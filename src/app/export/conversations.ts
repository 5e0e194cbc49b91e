/** The conversations of chosen attempts as rows for supervised fine-tuning. */
import type { Catalog } from "../../environment/catalog.ts";
import type { ConversationsResult, ConversationsWork } from "../../protocol/work.ts";
import { UserError } from "../../userError.ts";
import { exportFormats } from "./formats.ts";

/** Creates the rows that `export --to sft` would, with the attempt in place of the teacher's. */
export function createConversations(
  { attempts }: Pick<ConversationsWork, "attempts">,
  catalog: Catalog,
): ConversationsResult {
  const format = exportFormats.find(it => it.name === "sft")!;
  const lines: string[] = [];
  let leftOut = 0;
  let reason: string | undefined;
  for (const { task, trajectory } of attempts)
    try {
      const rows = format.createRows({ ...task, trajectory }, catalog, lines.length);
      lines.push(...rows.map(it => JSON.stringify(it)));
    } catch (error) {
      // an attempt at a task that can no longer be opened does not stop the others
      if (!(error instanceof UserError)) throw error;
      leftOut++;
      reason ??= error.what;
    }
  return { lines, leftOut, ...(reason === undefined ? {} : { reason }) };
}
