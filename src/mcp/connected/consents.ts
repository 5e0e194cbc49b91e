/**
 * Which entries of `prove/mcp.json` a user has agreed to start with all their tools. An entry that
 * has changed needs another agreement. The file is the user's, so that no workspace can write it.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { canonicalJson } from "../../environment/json.ts";
import { writeFileAtomically } from "../../storage/atomicWrite.ts";
import { getDataFolder } from "../../storage/dataFolder.ts";
import { isMissing } from "../../storage/fileErrors.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { isRemote, type ServerEntry } from "../mcpConfig.ts";
import { describeUrl, listHeaderVariables } from "../remoteSetting.ts";

const schema = z.strictObject({
  format: z.literal("prove/consents@1"),
  /** Hashes of entries. */
  entries: z.array(z.string()),
});

const getFile = () => join(getDataFolder(), "servers.json");

/**
 * The hash of what is agreed to. Keys without an effect do not change it, nor do values that may be
 * secret and are not shown.
 */
export const hashEntry = (entry: ServerEntry): string =>
  createHash("sha256")
    .update(
      canonicalJson({
        ...entry,
        ignoredKeys: [],
        ...(isRemote(entry)
          ? {
              url: describeUrl(entry.url),
              headers: [...Object.keys(entry.headers).sort(), ...listHeaderVariables(entry)],
            }
          : {}),
      }),
    )
    .digest("hex");

function readEntries(): readonly string[] {
  try {
    return readJsonFile(schema, getFile(), {
      noun: "a list of servers that may start",
      remedy: "remove the file, and agree again",
    }).entries;
  } catch (error) {
    if (isMissing((error as Error).cause)) return [];
    throw error;
  }
}

export const hasConsent = (entry: ServerEntry): boolean => readEntries().includes(hashEntry(entry));

export async function storeConsent(entry: ServerEntry): Promise<void> {
  const entries = [...new Set([...readEntries(), hashEntry(entry)])];
  mkdirSync(dirname(getFile()), { recursive: true });
  const text = JSON.stringify({ format: "prove/consents@1", entries }, null, 2);
  await writeFileAtomically(getFile(), `${text}\n`);
}
