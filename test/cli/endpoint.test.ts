/**
 * `evaluate --policy endpoint:MODEL` against a real server: what is noted before anything leaves
 * the machine, and that keys are not printed or written.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openEndpointFor } from "../../src/app/endpoints.ts";
import { evaluate } from "../../src/cli/evaluate.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import { callsFor, chatServer, says, type Answering } from "../policy/chatServer.ts";
import { synthesizeTasks } from "../synthesis/synthesizeTasks.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

const key = "sk-planted-77d0e1b2";

afterEach(() => void vi.unstubAllEnvs());

async function createFolderWithTasks(): Promise<string> {
  const cwd = emptyFolder();
  const { tasks } = await synthesizeTasks(4, { servers: ["banking"], split: "train" });
  writeFileSync(join(cwd, "a.tasks.jsonl"), tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
  return cwd;
}

async function runEvaluation(answering: Answering, ...more: string[]) {
  const [cwd, server] = [await createFolderWithTasks(), await chatServer(answering)];
  const output = await runCommand(
    evaluate,
    [
      "--tasks",
      "a.tasks.jsonl",
      "--split",
      "train",
      "--policy",
      "endpoint:tiny",
      "--base-url",
      server.url,
      ...more,
    ],
    { cwd },
  );
  return { ...output, asked: server.asked, cwd };
}

describe("evaluate --policy endpoint:MODEL", () => {
  test("measures the model: conversation, date and tools are sent, results come back as tool messages", async () => {
    const { code, out, asked, notes } = await runEvaluation(({ body }) => {
      const offered = body.tools!.find(it => it.function.name.startsWith("banking_list"));
      return offered && body.messages.at(-1)!.role === "user"
        ? callsFor([offered.function.name, "{}"])
        : says("That is all I can say.");
    }, "--json");
    expect(code).toBe(0);
    expect(notes).toEqual([]);
    expect(JSON.parse(out.join(""))).toMatchObject({
      policy: "endpoint:tiny",
      attempts: 4,
      unscorable: 0,
    });
    expect(asked[0]!.body).toMatchObject({ model: "tiny", temperature: 0 });
    expect(asked[0]!.body.messages[0]).toMatchObject({
      role: "system",
      content: expect.stringMatching(
        /It is (Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{4}-\d\d-\d\d, \d\d:\d\d\./,
      ) as string,
    });
    expect(JSON.stringify(asked[0]!.body.tools)).not.toContain('"x-');
    const results = asked.flatMap(it => it.body.messages).filter(it => it.role === "tool");
    expect(results.length).toBeGreaterThan(0);
    for (const it of results) expect(it.content.length).toBeLessThanOrEqual(8192);
  });

  test("arguments that are not JSON make a failed call, and the attempt continues", async () => {
    const { out } = await runEvaluation(
      ({ body }) =>
        body.messages.at(-1)!.role === "user"
          ? callsFor([body.tools![0]!.function.name, '{"account_id": "acc'])
          : says("Sorry."),
      "--json",
    );
    expect(JSON.parse(out.join(""))).toMatchObject({
      unscorable: 0,
      errors: { syntax: 0, arguments: 1 },
    });
  });

  test("arguments that are nested thousands of levels deep make a failed call", async () => {
    const deep = `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`;
    const { code, out, notes } = await runEvaluation(
      ({ body }) =>
        body.messages.at(-1)!.role === "user"
          ? callsFor([body.tools![0]!.function.name, deep])
          : says("Sorry."),
      "--json",
    );
    expect({ code, notes }).toEqual({ code: 0, notes: [] });
    expect(JSON.parse(out.join(""))).toMatchObject({
      attempts: 4,
      unscorable: 0,
      errors: { syntax: 0, arguments: 1 },
    });
  });

  test("if no attempt can be made, it notes the reason once and exits with 1", async () => {
    const { code, notes } = await runEvaluation(() => ({
      status: 401,
      body: { error: { message: "no key" } },
    }));
    expect(code).toBe(1);
    expect(notes).toEqual([
      expect.stringMatching(
        /^an attempt was cut off: http:\/\/127\.0\.0\.1:\d+\/v1 does not let us in: 401 \(no key\)$/,
      ),
    ]);
  });

  test("a spent token budget ends it and keeps what was measured", async () => {
    const { notes, asked } = await runEvaluation(
      () => says("No."),
      "--token-budget",
      "15",
      "--concurrency",
      "1",
    );
    expect(asked).toHaveLength(1);
    expect(notes.join()).toContain("the budget of 15 tokens is spent");
  });

  test("a key is in no printed line and no file, even if the server returns it", async () => {
    vi.stubEnv("PROVE_API_KEY", key);
    const { out, notes, cwd, asked } = await runEvaluation((_, n) =>
      n % 2 === 0
        ? says(`I was given ${key}.`)
        : { status: 403, body: { error: { message: `${key} may not` } } },
    );
    expect(asked[0]!.headers.authorization).toBe(`Bearer ${key}`);
    expect([...out, ...notes].join("\n")).not.toContain(key);
    for (const it of readdirSync(cwd, { recursive: true, encoding: "utf8" }))
      if (statSync(join(cwd, it)).isFile())
        expect(readFileSync(join(cwd, it), "utf8")).not.toContain(key);
  });

  test.each([
    [
      "a concurrency of 0",
      ["--concurrency", "0"],
      /--concurrency 0 is not a number: give a whole number from 1 on/,
    ],
    ["a budget in words", ["--token-budget", "plenty"], /--token-budget plenty is not a number/],
    [
      "constrained decoding",
      ["--policy", "endpoint:tiny", "--constrain"],
      /endpoint:tiny cannot be constrained/,
    ],
    ["no model", ["--policy", "endpoint:"], /endpoint: names no model/],
  ])("%s is refused", async (_, args, message) => {
    await expect(runEvaluation(() => says("Hi."), ...args)).rejects.toThrow(message);
  });
});

describe("before anything leaves the machine", () => {
  const openAndRecord = (url: string | undefined, env: Record<string, string>) => {
    const notes: string[] = [];
    const { endpoint } = openEndpointFor(
      { url, model: "m" },
      "what users say",
      { printNote: it => void notes.push(it) },
      env,
    );
    return { notes, address: endpoint.address.href };
  };

  test("the address and what is sent are noted", () => {
    expect(openAndRecord("https://models.example/v1", { PROVE_API_KEY: key }).notes).toEqual([
      "asking m at https://models.example/v1/chat/completions, which is not on this machine: it is sent what users say, and your key",
    ]);
  });

  test("plain http is noted too", () => {
    expect(openAndRecord("http://10.0.0.5:8000/v1/", { OPENAI_API_KEY: key }).notes).toEqual([
      "asking m at http://10.0.0.5:8000/v1/chat/completions, which is not on this machine: it is sent what users say, and your key",
      "  10.0.0.5 uses plain http: anyone on the network path can read all of it, including the key",
    ]);
  });

  test.each(["http://localhost:1234/v1", "http://127.0.0.1:8000/v1", "http://[::1]:8000/v1"])(
    "%s is this machine, and is not noted",
    url => {
      expect(openAndRecord(url, {}).notes).toEqual([]);
    },
  );

  test.each([
    [
      "PROVE_BASE_URL without an address",
      undefined,
      { PROVE_BASE_URL: "http://localhost:9/v1" },
      "http://localhost:9/v1/chat/completions",
    ],
    [
      "this machine without any setting",
      undefined,
      {},
      "http://127.0.0.1:8000/v1/chat/completions",
    ],
    [
      "the address of the option before the environment's",
      "http://localhost:1/v1",
      { PROVE_BASE_URL: "http://localhost:9/v1" },
      "http://localhost:1/v1/chat/completions",
    ],
  ])("it is %s", (_, url, env, address) => {
    expect(openAndRecord(url, env).address).toBe(address);
  });
});
