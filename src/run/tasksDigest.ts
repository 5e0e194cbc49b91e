/**
 * Remembers which tasks a run trains on, in tasks.json of its folder, so that a tasks file that has
 * changed is noticed when the run is resumed.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readJsonFile } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";

const digestSchema = z.strictObject({ sha256: z.string() });

/** Throws a `UserError` if the tasks file is not the one that the run began with. */
export async function checkTasksFile(folder: string, tasks: string): Promise<void> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(tasks), hash);
  } catch (cause) {
    throw new UserError(
      `the tasks file ${tasks} cannot be read`,
      "restore it, or start a new run on another file",
      { cause },
    );
  }
  const sha256 = hash.digest("hex");
  const file = join(folder, "tasks.json");
  if (!existsSync(file)) return writeFileAtomicallySync(file, `${JSON.stringify({ sha256 })}\n`);
  const began = readJsonFile(digestSchema, file, {
    noun: "the digest of a tasks file",
    remedy: "delete it to train on the tasks as they are now",
  });
  if (began.sha256 !== sha256)
    throw new UserError(
      `${tasks} has changed since the run in ${folder} began`,
      "restore the file, or start a new run; to go on with the changed tasks, delete tasks.json in the run folder",
    );
}
