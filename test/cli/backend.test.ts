/** `backend`: what is installed, and installations that are refused or fail. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { root } from "../contracts/transports.ts";
import { emptyFolder, run } from "./program.ts";

/** Runs `backend` with a folder of native backends. */
const runBackend = (backends: string, ...args: string[]) =>
  run(["backend", ...args], { cwd: emptyFolder(), env: { PROVE_BACKENDS: backends } });

test("list shows versions and which are installed, also as JSON", async () => {
  const backends = emptyFolder();
  mkdirSync(join(backends, "webgpu"));
  const { code, stdout } = await runBackend(backends, "list");
  expect(code).toBe(0);
  expect(stdout).toMatch(/tensorflow +@tensorflow\/tfjs-node-gpu@4\.22\.0 +not installed/);
  expect(stdout).toContain(join(backends, "webgpu"));
  const { stdout: json } = await runBackend(backends, "list", "--json");
  expect(JSON.parse(json)).toMatchObject([
    { name: "tensorflow", version: "4.22.0" },
    { name: "webgpu", folder: join(backends, "webgpu") },
  ]);
});

test("nothing is installed without consent, and the source and size are said first", async () => {
  const backends = join(emptyFolder(), "new");
  const { code, stderr } = await runBackend(backends, "install", "webgpu");
  expect(code).toBe(2);
  expect(stderr).toContain("webgpu@0.6.2 for the backend webgpu: about 135 MB from the npm");
  expect(stderr).toContain("give --yes to install it");
  expect(existsSync(backends)).toBe(false);
});

test("an installation that fails leaves nothing behind and says what npm said", async () => {
  const backends = emptyFolder();
  const leftover = join(backends, ".installing-old");
  mkdirSync(leftover);
  const args = ["install", "webgpu", "--yes", "--from", emptyFolder()];
  const { code, stderr } = await runBackend(backends, ...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^npm error request to .*webgpu[^]*^prove-rl: npm ci ended with code 1\n/m,
  );
  expect(readdirSync(backends)).toEqual([]);
});

test("a folder that is no TensorFlow library is refused before anything is installed", async () => {
  const backends = emptyFolder();
  const args = ["install", "tensorflow", "--yes", "--library", emptyFolder()];
  const { code, stderr } = await runBackend(backends, ...args);
  expect(code).toBe(2);
  expect(stderr).toContain("is not a TensorFlow library: it needs include/tensorflow/c/c_api.h");
  expect(readdirSync(backends)).toEqual([]);
});

/** Writes a package in place of the backend webgpu. Returns the folder of the backends. */
function writeWebGpuPackage(code: string): string {
  const backends = emptyFolder();
  const folder = join(backends, "webgpu/node_modules/webgpu");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"name":"webgpu","main":"index.js"}');
  writeFileSync(join(folder, "index.js"), code);
  return backends;
}

test("check says why a broken backend does not work, and what wasm does", async () => {
  const backends = writeWebGpuPackage("throw new Error('built for another Node');");
  const { code, stdout } = await runBackend(backends, "check");
  expect(code).toBe(1);
  expect(stdout).toMatch(/webgpu +does not work here: the package webgpu cannot be loaded/);
  expect(stdout).toMatch(
    /wasm +works on the processor(, with vectors of 256 bits)?: [\d.]+ ms per pass/,
  );
});

test("check says that a library ended its process", async () => {
  const backends = writeWebGpuPackage('process.kill(process.pid, "SIGKILL");');
  const { stdout } = await runBackend(backends, "check", "webgpu");
  expect(stdout).toBe("webgpu      does not work here: its process ended with SIGKILL\n");
});

test("wasm that does not start says why it may not", async () => {
  const copy = emptyFolder();
  for (const it of ["package.json", "dist/cli.js", "dist/chunks"])
    cpSync(join(root, it), join(copy, it), { recursive: true });
  symlinkSync(join(root, "resources"), join(copy, "resources"), "junction");
  writeFileSync(join(copy, "dist/tfjs-backend-wasm-simd.wasm"), "");
  const args = [join(copy, "dist/cli.js"), "backend", "check", "wasm", "--in-process", "--json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const { problem } = (await json(child.stdout)) as { problem: string };
  expect(problem).toMatch(/^the backend wasm did not start: this process gets no memory for it/);
});

test("remove deletes a backend, and refuses one that is not there", async () => {
  const backends = emptyFolder();
  mkdirSync(join(backends, "webgpu"));
  expect((await runBackend(backends, "remove", "webgpu")).code).toBe(0);
  expect(readdirSync(backends)).toEqual([]);
  const { code, stderr } = await runBackend(backends, "remove", "webgpu");
  expect(code).toBe(2);
  expect(stderr).toContain("webgpu is not installed");
});
