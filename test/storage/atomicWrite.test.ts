/** Replacing whole files: the new content or the old one, also on a disk that is full. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeFileAtomically, writeFileAtomicallySync } from "../../src/storage/atomicWrite.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-atomic-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a file is replaced completely, and no temporary file is left", async () => {
  const file = join(folder, "a");
  writeFileSync(file, "before");
  await writeFileAtomically(file, "after");
  expect(readFileSync(file, "utf8")).toBe("after");
  writeFileAtomicallySync(file, [Buffer.from("in "), Buffer.from("parts")]);
  expect(readFileSync(file, "utf8")).toBe("in parts");
  await writeFileAtomically(file, [Buffer.from("in more "), Buffer.from("parts")]);
  expect(readFileSync(file, "utf8")).toBe("in more parts");
  expect(readdirSync(folder)).toEqual(["a"]);
});

test("a folder that does not exist is an error with its remedy", async () => {
  const file = join(folder, "no", "such", "folder");
  const message = /could not be written .* check that its folder exists/;
  await expect(writeFileAtomically(file, "x")).rejects.toThrow(message);
  expect(() => writeFileAtomicallySync(file, "x")).toThrow(message);
});

// a limit on the size of files stands in for a full disk: the write that reaches it is cut short
test.runIf(process.platform === "linux")("on a full disk the old content stays", () => {
  const file = join(folder, "b");
  const program = `
    import { writeFileAtomically, writeFileAtomicallySync } from ${JSON.stringify(join(import.meta.dirname, "../../src/storage/atomicWrite.ts"))};
    process.on("SIGXFSZ", () => {});
    const report = error => console.log(error.message);
    const content = "x".repeat(100_000);
    await writeFileAtomically(process.argv[1], content).catch(report);
    try { writeFileAtomicallySync(process.argv[1], content); } catch (error) { report(error); }
  `;
  writeFileSync(file, "old");
  const { stdout } = spawnSync(
    "sh",
    ["-c", 'ulimit -f 4; exec "$0" "$@"', process.execPath, "--input-type=module"].concat([
      "-e",
      program,
      file,
    ]),
    { encoding: "utf8" },
  );
  const message = `the disk is full: ${file} could not be written (the previous content is kept): free some space, then run it again`;
  expect(stdout).toBe(`${message}\n${message}\n`);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["a", "b"]);
});
