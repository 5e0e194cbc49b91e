/** Tools that create and extract archives. */
import { z } from "zod";
import { createToolFactory } from "../../environment/server.ts";
import { newPathSchema, path } from "./parameters.ts";
import { FilesystemState } from "./state.ts";
import { createArchive, extractArchive } from "./archives.ts";

const tool = createToolFactory(FilesystemState);

const source = path.directory.describe("Directory to pack, or a single file");
const destination = path.directory.describe("Directory to unpack into");
const overwrite = z.boolean().optional().describe("Replace files that are already there");
const fileCount = z.int().describe("How many files it holds");
const extractionResult = { path: path.directory, count: z.int(), files: z.array(path.file) };

export const archiveTools = {
  zip: tool({
    effect: "write",
    summary: "Pack a directory or file into a new zip archive.",
    input: {
      source,
      archive: newPathSchema("~/backup.zip", "~/send.zip", "~/march.zip", "~/old.zip", "pack.zip")
        .optional()
        .describe("Path of the archive; beside the source and named after it if not given"),
    },
    returns: { archive: path.zip, files: fileCount },
    run(state, { source: input, archive }, { now }) {
      const { at, files } = createArchive(state, input, archive, "zip", now);
      return { archive: at, files };
    },
  }),
  unzip: tool({
    effect: "write",
    summary: "Unpack a zip archive into a directory.",
    input: { archive: path.zip.describe("Zip archive"), destination, overwrite },
    returns: extractionResult,
    run: (state, { archive, destination: into, overwrite: mayReplace = false }, { now }) =>
      extractArchive(state, { archive, into, format: "zip", mayReplace, now }),
  }),
  tar_create: tool({
    effect: "write",
    summary: "Pack a directory or file into a new tar archive.",
    input: {
      source,
      archive: newPathSchema("~/backup.tar", "~/send.tar", "~/march.tar", "~/old.tar", "pack.tar")
        .optional()
        .describe("Path of the archive; beside the source and named after it if not given"),
    },
    returns: { archive: path.tar, files: fileCount },
    run(state, { source: input, archive }, { now }) {
      const { at, files } = createArchive(state, input, archive, "tar", now);
      return { archive: at, files };
    },
  }),
  tar_extract: tool({
    effect: "write",
    summary: "Unpack a tar archive into a directory.",
    input: { archive: path.tar.describe("Tar archive"), destination, overwrite },
    returns: extractionResult,
    run: (state, { archive, destination: into, overwrite: mayReplace = false }, { now }) =>
      extractArchive(state, { archive, into, format: "tar", mayReplace, now }),
  }),
};
