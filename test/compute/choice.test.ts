/** The choice of a backend when no native one is installed. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { UserError } from "../../src/userError.ts";
import { programs } from "./numbers.ts";

const backends = mkdtempSync(join(tmpdir(), "prove-"));
for (const name of ["tensorflow", "webgpu"]) mkdirSync(join(backends, name));

test("auto passes over backends whose folders are empty", async () => {
  const backend = await startBackend("auto", { programs, backends });
  expect(backend.name).toBe("wasm");
  expect(backend.notes).toEqual([
    expect.stringMatching(
      /^backend tensorflow was passed over: .* has neither @tensorflow\/tfjs-node-gpu nor /,
    ),
    expect.stringMatching(
      /^backend webgpu was passed over: the package webgpu cannot be loaded from /,
    ),
  ]);
});

test.each(["tensorflow", "webgpu"] as const)(
  "%s that was chosen by name and is not there is a UserError with a remedy",
  async name => {
    await expect(startBackend(name, { programs, backends })).rejects.toThrow(UserError);
    await expect(startBackend(name, { programs })).rejects.toThrow(
      `the backend ${name} is not installed: run prove-rl backend install ${name}`,
    );
  },
);

test.each([
  ["tensorflow", "@tensorflow/tfjs-node-gpu"],
  ["webgpu", "webgpu"],
] as const)("%s that was built for another Node says so", async (name, packageName) => {
  const others = mkdtempSync(join(tmpdir(), "prove-"));
  const folder = join(others, name, "node_modules", packageName);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{"name":"${packageName}","main":"index.js"}`);
  // as Node writes it, in several lines
  const lines = [
    "The module 'a.node'",
    "was compiled against a different Node.js version using",
    "NODE_MODULE_VERSION 115. This version of Node.js requires",
    "NODE_MODULE_VERSION 137.",
  ];
  const message = JSON.stringify(lines.join("\n"));
  writeFileSync(join(folder, "index.js"), `throw new Error(${message});`);
  const started = startBackend(name, { programs, backends: others });
  await expect(started).rejects.toMatchObject({
    what: expect.stringContaining(lines.join(" ")) as string,
    remedy: expect.stringContaining(`remove it with prove-rl backend remove ${name}`) as string,
  });
});
