/** `inspect`: answers questions of agents on a workspace over MCP on stdin and stdout. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { inspectionTools } from "../inspect/tools.ts";
import { serveTextTools } from "../mcp/textTools.ts";
import { UserError } from "../userError.ts";
import { defineCommand, optionalArgument } from "./command.ts";
import { existingPath } from "./options.ts";

export const inspect = defineCommand({
  name: "inspect",
  description:
    "Answer an agent's questions on the runs, attempts and tasks of a folder over MCP on stdin and stdout, for an MCP client that starts this command. It only reads, and only files in that folder; answers have at most 12,000 characters.",
  arguments: [
    optionalArgument(
      "[folder]",
      "workspace folder, which contains prove; the current one if absent",
      {
        parser: existingPath("the folder that contains prove"),
      },
    ),
  ],
  options: {},
  examples: ["inspect", "inspect my-workspace"],
  async run({ catalog, cwd, resources, signal }, [given = "."]) {
    const folder = resolve(cwd, given);
    if (!statSync(folder).isDirectory())
      throw new UserError(`${given} is not a folder`, "name the folder that contains prove");
    const fixtures = [join(folder, "prove", "fixtures"), join(resources, "servers")];
    const opened = folder === cwd ? catalog : catalog.reopen(fixtures);
    const workspace = { folder, prove: "prove", openCatalog: async () => opened };
    await serveTextTools(
      "prove-inspect",
      "Read-only answers on training runs, attempts and tasks of PROVE.",
      inspectionTools.map(it => ({ ...it, answer: input => it.answer(input, workspace) })),
      signal,
    );
    return 0;
  },
});
