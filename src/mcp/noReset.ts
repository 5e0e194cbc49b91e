/** Explains what a server cannot be used for whose sessions would share what it works on. */
import { UserError } from "../userError.ts";
import { isRemote, type ServerEntry } from "./mcpConfig.ts";

export const describeNoReset = (entry: ServerEntry): string =>
  `${entry.name} ${isRemote(entry) ? "is remote and cannot be reset" : "has no reset"}`;

const howToRecord = (entry: ServerEntry): string =>
  `record what it answers with prove-rl record ${entry.name}, which calls only tools that are known to read`;

/** Why the tools of a server are not tried, and what to do instead. */
export const createNoResetError = (entry: ServerEntry): UserError =>
  new UserError(
    `${describeNoReset(entry)}, and its tools are not tried on what may be anybody's data`,
    isRemote(entry)
      ? howToRecord(entry)
      : `add one to its entry in prove/mcp.json, such as "reset": {"folder": "seeds/start"} for a server whose state are files, or ${howToRecord(entry)}`,
  );
