/** `serve --policy`: the policy in its own process, and the policies that it refuses. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, expect, test } from "vitest";
import { root } from "../contracts/transports.ts";
import { isRunning, listChildren } from "../processes.ts";
import { emptyFolder, run } from "./program.ts";

const example = join(root, "resources/example/prove/tasks/example.tasks.jsonl");
const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach(it => it.kill("SIGKILL")));

async function serve(...args: readonly string[]) {
  const child = spawn(
    process.execPath,
    [join(root, "dist/cli.js"), "serve", "--port", "0", ...args],
    { cwd: emptyFolder(), stdio: ["ignore", "pipe", "pipe"] },
  );
  let notes = "";
  child.stderr.setEncoding("utf8").on("data", it => (notes += it));
  children.push(child);
  const ended = new Promise<number | null>(resolve => child.once("close", resolve));
  const first = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", resolve);
    child.once("close", () => reject(new Error("the service did not start")));
  });
  const { url } = JSON.parse(first) as { url: string };
  const baseURL = `${url}/v1`;
  const getNotes = () => notes;
  return {
    child,
    ended,
    baseURL,
    getNotes,
    client: new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 }),
  };
}

test("a teacher behind the endpoint achieves all tasks when it is evaluated", async () => {
  const { baseURL, child, ended } = await serve("--policy", "scripted:teacher", "--tasks", example);
  const { code, stdout } = await run(
    ["evaluate", "--tasks", example, "--policy", "endpoint:scripted:teacher", "--json"].concat([
      "--base-url",
      baseURL,
      "--split",
      "train",
      "--limit",
      "8",
    ]),
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ attempts: 8, unscorable: 0, success: 1 });
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});

test("a student that ends is started again, and ends with the service", async () => {
  const { client, child, ended, getNotes } = await serve("--policy", "small", "--constrain");
  const ask = () =>
    client.chat.completions.create({
      model: "small",
      messages: [{ role: "user", content: "Thank you" }],
    });
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  expect(answers.every(it => it.usage!.completion_tokens > 0)).toBe(true);
  expect(getNotes()).toMatch(
    /^small computes with wasm, the processor(, with vectors of 256 bits)?$/m,
  );
  const [first] = listChildren(child.pid!);
  process.kill(first!, "SIGKILL");
  await expect.poll(() => listChildren(child.pid!)).not.toContain(first);
  expect((await ask()).choices).toHaveLength(1);
  const [second] = listChildren(child.pid!);
  expect(second).not.toBe(first);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  await expect.poll(() => listChildren(child.pid!)).toEqual([]);
});

test("a policy that does not react is ended with the service", async () => {
  const { child, ended } = await serve("--policy", "scripted:idle");
  const [policy] = listChildren(child.pid!);
  // as one that computes for a long time
  process.kill(policy!, "SIGSTOP");
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  await expect.poll(() => isRunning(policy!)).toBe(false);
});

test("a policy ends with a service that was killed", async () => {
  const { child, ended } = await serve("--policy", "scripted:idle");
  const [policy] = listChildren(child.pid!);
  child.kill("SIGKILL");
  await ended;
  await expect.poll(() => isRunning(policy!)).toBe(false);
});

test("a process that computes notices that its parent is gone", async () => {
  const folder = emptyFolder();
  const watch = join(root, "src/cli/processWatch.ts");
  const busy = `import { watchProcess } from ${JSON.stringify(watch)};
    (await watchProcess(() => {})).endWithParent();
    process.send("busy", () => { for (;;); });`;
  writeFileSync(join(folder, "busy.mjs"), busy);
  writeFileSync(
    join(folder, "parent.mjs"),
    `import { fork } from "node:child_process";
    const child = fork("./busy.mjs");
    child.once("message", () => console.log(child.pid));`,
  );
  const parent = spawn(process.execPath, ["parent.mjs"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(parent);
  const [pid] = (await once(parent.stdout, "data")) as [Buffer];
  parent.kill("SIGKILL");
  await expect.poll(() => isRunning(Number(pid))).toBe(false);
});

test.each([
  ["a policy that does not exist", ["--policy", "none"], /there is no policy none/],
  ["an endpoint", ["--policy", "endpoint:m"], /is served by its endpoint already/],
  ["teachers without tasks", ["--policy", "scripted:teacher"], /there are none\n {2}add --tasks/],
  ["several processes", ["--policy", "small", "--workers", "2"], /leave out --workers/],
  ["constraints without a policy", ["--constrain"], /--constrain is about a policy/],
])("refuses %s", async (_, args, message) => {
  const { code, stderr } = await run(["serve", "--port", "0", ...args]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});
