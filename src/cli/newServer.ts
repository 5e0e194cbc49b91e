/** `new-server`: writes a small server of the workspace's own. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createServerFiles } from "../servers/own/newServer.ts";
import { UserError } from "../userError.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { argument, defineCommand } from "./command.ts";

export const newServer = defineCommand({
  name: "new-server",
  description:
    "Write a small server of your own in TypeScript, which runs: prove/servers/NAME with two tables, four tools and their texts, and a fixture in prove/fixtures/NAME. Change it as you like. It is code that runs with your rights when a command needs its tools.",
  arguments: [argument("<name>", "its name, such as my_library", { required: "a name" })],
  options: {},
  examples: ["new-server my_library"],
  async run({ prove, cwd, catalog, print, printNote }, [name]) {
    const files = Array.from(createServerFiles(name), ([path, text]) => ({
      file: join(prove, path),
      text,
    }));
    if (catalog.hasServer(name))
      throw new UserError(`there is a server ${name} already`, "choose another name");
    const existing = files.find(it => existsSync(it.file));
    if (existing) throw new UserError(`${existing.file} exists`, "choose another name");
    for (const { file, text } of files) {
      mkdirSync(dirname(file), { recursive: true });
      await writeFileAtomically(file, text);
      print(relative(cwd, file));
    }
    printNote(
      `next: prove-rl synthesize --servers ${name} --count 50 --out prove/tasks/${name}.tasks.jsonl`,
    );
    return 0;
  },
});
