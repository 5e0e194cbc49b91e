/** Fills folders that are new or empty. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../userError.ts";
import { readIfExists, withWriteErrors } from "./fileErrors.ts";

/**
 * Fills a folder, and leaves nothing of it behind if that fails. Throws a `UserError` if it is not
 * empty.
 */
export async function fillNewFolder<T>(folder: string, fill: () => Promise<T>): Promise<T> {
  const list = () => readIfExists(folder, () => readdirSync(folder)) ?? [];
  if (list().length > 0)
    throw new UserError(`${folder} is not empty`, "name a new folder, or empty it first");
  const isNew = !existsSync(folder);
  withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  try {
    return await fill();
  } catch (error) {
    for (const entry of list()) rmSync(join(folder, entry), { recursive: true, force: true });
    if (isNew) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
