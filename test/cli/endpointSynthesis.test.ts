/**
 * `synthesize --teacher endpoint` against a real server: replay, resuming, budgets, and that keys
 * are not printed or written.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { replay } from "../../src/cli/replay.ts";
import { synthesize } from "../../src/cli/synthesize.ts";
import { createRequestBody, parseAnswer } from "../../src/policy/endpointFormat.ts";
import type { SynthesisWork } from "../../src/protocol/work.ts";
import { root } from "../contracts/transports.ts";
import { chatServer, type Answering, type ChatBody } from "../policy/chatServer.ts";
import { createScriptedModel } from "../synthesis/scriptedChatModel.ts";
import { requestWork } from "./editor.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

const key = "sk-planted-0c55e1aa";

afterEach(() => void vi.unstubAllEnvs());

const createCompetentAnswers = (): Answering => {
  const model = createScriptedModel();
  return ({ body }) => model(body);
};

const synthesizeWith = (cwd: string, url: string, ...more: string[]) =>
  runCommand(
    synthesize,
    [
      "--out",
      "a.tasks.jsonl",
      "--servers",
      "filesystem",
      "--teacher",
      "endpoint",
      "--model",
      "scripted",
      "--base-url",
      url,
      ...more,
    ],
    { cwd },
  );

/** Every file under a folder that holds the text. */
const listFilesWith = (folder: string, text: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    it =>
      statSync(join(folder, it)).isFile() && readFileSync(join(folder, it), "utf8").includes(text),
  );

const readLines = (cwd: string, file: string) =>
  readFileSync(join(cwd, file), "utf8").trimEnd().split("\n");

test("five tasks are made, can be replayed, and name their teacher", async () => {
  const [cwd, server] = [emptyFolder(), await chatServer(createCompetentAnswers())];
  const { code, out, notes } = await synthesizeWith(cwd, server.url, "--count", "5");
  expect(notes).toEqual([]);
  expect(code).toBe(0);
  expect(out[0]).toMatch(/^5 tasks in .*a\.tasks\.jsonl/);
  expect(
    readLines(cwd, "a.tasks.jsonl").map(
      it => (JSON.parse(it) as { provenance: { teacher: string } }).provenance.teacher,
    ),
  ).toEqual(Array.from({ length: 5 }, () => "endpoint:scripted"));
  expect(JSON.parse(readFileSync(join(cwd, "a.report.json"), "utf8"))).toMatchObject({
    options: { teacher: "endpoint:scripted" },
    accepted: 5,
  });
  expect((await runCommand(replay, ["a.tasks.jsonl"], { cwd })).code).toBe(0);
});

test("a spent budget stops it and keeps the tasks, and --resume continues after them", async () => {
  const [cwd, server] = [emptyFolder(), await chatServer(createCompetentAnswers())];
  await expect(
    synthesizeWith(cwd, server.url, "--count", "4", "--token-budget", "2400", "--concurrency", "1"),
  ).rejects.toThrow(
    /^the budget of 2400 tokens is spent \(2\d\d\d were read and written\); [1-3] tasks? (?:are|is) in .*: give a larger budget, or none, then continue with --resume$/,
  );
  const before = readLines(cwd, "a.tasks.jsonl");
  const { code } = await synthesizeWith(cwd, server.url, "--count", "4", "--resume");
  expect(code).toBe(0);
  const after = readLines(cwd, "a.tasks.jsonl");
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after).toHaveLength(4);
  expect(new Set(after.map(it => (JSON.parse(it) as { id: string }).id)).size).toBe(4);
});

test("a file of another teacher is not continued", async () => {
  const [cwd, server] = [emptyFolder(), await chatServer(createCompetentAnswers())];
  await runCommand(
    synthesize,
    ["--out", "a.tasks.jsonl", "--servers", "filesystem", "--count", "2"],
    { cwd },
  );
  await expect(synthesizeWith(cwd, server.url, "--count", "4", "--resume")).rejects.toThrow(
    /the teacher of .*a\.tasks\.jsonl was graph, not endpoint:scripted: repeat the command/,
  );
  expect(server.asked).toEqual([]);
});

test("a key is in no file and no printed line, whatever the endpoint does with it", async () => {
  vi.stubEnv("PROVE_API_KEY", key);
  const model = createScriptedModel();
  const [cwd, server] = [
    emptyFolder(),
    await chatServer(({ body, headers }, n) => {
      expect(headers.authorization).toBe(`Bearer ${key}`);
      if (n > 250)
        return { status: 401, body: { error: { message: `${key} is not known any more` } } };
      const reply = model(body);
      // repeats the key where it can
      return {
        body: JSON.parse(
          JSON.stringify(reply.body).replace("That is done.", `That is done, ${key}.`),
        ) as object as never,
      };
    }),
  ];
  const error = await synthesizeWith(cwd, server.url, "--count", "40").catch(
    (error: unknown) => error as Error,
  );
  expect(error).toBeInstanceOf(Error);
  expect(String((error as Error).stack)).toContain("[key] is not known any more");
  expect(String((error as Error).stack)).not.toContain(key);
  expect(listFilesWith(cwd, "[key]")).not.toEqual([]);
  expect(listFilesWith(cwd, key)).toEqual([]);
});

describe("invalid options", () => {
  test.each([
    ["no model", ["--teacher", "endpoint"], /--teacher endpoint needs a model: add --model/],
    [
      "a model for the graph",
      ["--model", "m"],
      /the graph needs no model m: add --teacher endpoint/,
    ],
    [
      "an address in words",
      ["--teacher", "endpoint", "--model", "m", "--base-url", "next door"],
      /next door is no address of an endpoint/,
    ],
    ["an unknown teacher", ["--teacher", "me"], /there is no teacher me: choose graph or endpoint/],
  ])("%s", async (_, args, message) => {
    await expect(
      runCommand(synthesize, ["--out", "a.jsonl", "--count", "3", ...args], { cwd: emptyFolder() }),
    ).rejects.toThrow(message);
  });

  test("an endpoint that is not running", async () => {
    const server = await chatServer(() => undefined);
    await server.close();
    vi.stubEnv("PROVE_API_KEY", key);
    await expect(
      synthesizeWith(emptyFolder(), server.url.replace("http:", "https:"), "--count", "2"),
    ).rejects.toThrow(
      /^nobody answers at https:\/\/127\.0\.0\.1:\d+\/v1 \(ECONNREFUSED\); 0 tasks are in /,
    );
  });
});

describe("for the editor", () => {
  const createWork = (cwd: string, teacher: SynthesisWork["teacher"]): SynthesisWork => ({
    file: join(cwd, "prove/tasks/a.tasks.jsonl"),
    count: 1,
    seed: 3,
    servers: ["filesystem"],
    fixtures: [join(root, "resources/servers")],
    teacher,
  });
  const editorTeacher = { kind: "editor", model: "copilot-4" } as const;

  test("the editor's own model teaches over the channel, with only the conversation's tools", async () => {
    const [cwd, model] = [emptyFolder(), createScriptedModel()];
    const { result, completions } = await requestWork(createWork(cwd, editorTeacher), {
      complete: ({ model: name, messages, tools }) => {
        const body = JSON.parse(
          JSON.stringify(
            createRequestBody(name, { messages, ...(tools ? { tools } : {}) }, new Set()),
          ),
        ) as ChatBody;
        const { text, calls } = parseAnswer(model(body).body!);
        return { text, calls };
      },
    });
    expect(result).toMatchObject({ report: { accepted: 1 } });
    expect(completions).not.toEqual([]);
    for (const { tools = [] } of completions)
      for (const it of tools) expect(it.name).toMatch(/^filesystem_/);
    expect(
      readLines(cwd, "prove/tasks/a.tasks.jsonl").map(
        it => (JSON.parse(it) as { provenance: { teacher: string } }).provenance.teacher,
      ),
    ).toEqual(["editor:copilot-4"]);
  });

  test("a failing model ends it with the reason", async () => {
    const { error } = await requestWork(createWork(emptyFolder(), editorTeacher), {
      complete: () => {
        throw new Error("the quota is used up");
      },
    });
    expect(error).toMatchObject({
      what: expect.stringMatching(
        /^the editor's model copilot-4 gave no answer: the quota is used up; 0 tasks are in /,
      ) as string,
      remedy: expect.stringContaining("--resume") as string,
    });
  });

  test("a cancellation reaches the requests that are still open", async () => {
    const cancellation = new AbortController();
    let [open, canceled] = [0, 0];
    const { error } = await requestWork(
      { ...createWork(emptyFolder(), editorTeacher), count: 50 },
      {
        signal: cancellation.signal,
        complete: (_, signal) => {
          open++;
          setImmediate(() => cancellation.abort("canceled by the test"));
          return new Promise((_resolve, reject) => {
            const stop = () => {
              canceled++;
              reject(new Error("canceled"));
            };
            if (signal.aborted) stop();
            signal.addEventListener("abort", stop);
          });
        },
      },
    );
    expect(error).toBe("canceled by the test");
    expect(open).toBeGreaterThan(0);
    expect(canceled).toBe(open);
  });

  test("an endpoint is given the key of the request and none of the environment's, and no key is printed or written", async () => {
    const [cwd, server] = [emptyFolder(), await chatServer(createCompetentAnswers())];
    const outcome = await requestWork(
      createWork(cwd, { kind: "endpoint", url: server.url, model: "scripted", key }),
      { env: { OPENAI_API_KEY: "sk-of-the-environment" } },
    );
    expect(outcome.result).toMatchObject({ report: { accepted: 1 } });
    expect(new Set(server.asked.map(it => it.headers.authorization))).toEqual(
      new Set([`Bearer ${key}`]),
    );
    expect(JSON.stringify(outcome)).not.toContain(key);
    expect(listFilesWith(cwd, key)).toEqual([]);
    const bare = await chatServer(createCompetentAnswers());
    await requestWork(
      createWork(emptyFolder(), { kind: "endpoint", url: bare.url, model: "scripted" }),
      { env: { OPENAI_API_KEY: "sk-of-the-environment", PROVE_API_KEY: "sk-of-the-environment" } },
    );
    expect(new Set(bare.asked.map(it => it.headers.authorization))).toEqual(new Set([undefined]));
  });
});
