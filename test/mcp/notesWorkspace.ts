/** A workspace with an entry for the server of notes, and a home of its own for its user. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { openShippedCatalog } from "../../src/app/context.ts";
import type { Catalog } from "../../src/environment/catalog.ts";
import { findServerEntry, type ServerEntry } from "../../src/mcp/mcpConfig.ts";
import { root } from "../contracts/transports.ts";

export interface NotesWorkspace {
  readonly folder: string;
  readonly entry: ServerEntry;
  /** Writes another entry. */
  readonly writeEntry: (changes: object) => void;
  readonly openCatalog: () => Promise<Catalog>;
  readonly remove: () => void;
}

const titles = [
  "Budget 2026",
  "Garden",
  "Trip to Oslo",
  "Team rules",
  "Wishes",
  "Bike repair",
  "Book club",
  "Tax papers",
];

export const notes = Object.fromEntries(
  titles.map((title, i) => [
    `note_${i + 1}`,
    { title, text: `All about it: ${title}.`, folder: ["Home", "Work", "Ideas"][i % 3]! },
  ]),
);

/** Creates the workspace. `manner` is how the server misbehaves. */
export function createNotesWorkspace(manner = "", changes: object = {}): NotesWorkspace {
  const folder = mkdtempSync(join(tmpdir(), "prove-notes-"));
  for (const it of ["HOME", "XDG_DATA_HOME", "LOCALAPPDATA"]) vi.stubEnv(it, join(folder, "home"));
  for (const it of ["prove", "seed"]) mkdirSync(join(folder, it));
  writeFileSync(join(folder, "seed/notes.json"), JSON.stringify(notes));
  const file = join(folder, "prove/mcp.json");
  const writeEntry = (more: object) => {
    const entry = {
      command: process.execPath,
      args: [join(root, "test/mcp/notesServer.ts"), "${sandbox}", manner],
      reset: { folder: "seed" },
      ...more,
    };
    writeFileSync(file, JSON.stringify({ servers: { notes: entry } }));
  };
  writeEntry(changes);
  return {
    folder,
    entry: findServerEntry(file, folder, "notes"),
    writeEntry,
    openCatalog: () =>
      openShippedCatalog(
        [join(folder, "prove/fixtures"), join(root, "resources/servers")],
        join(root, "src/app/thread.ts"),
      ),
    remove() {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
