/** `prove-rl inspect`, asked by an MCP client. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../contracts/transports.ts";
import { run } from "./program.ts";

const client = new Client({ name: "test", version: "1" });
beforeAll(() =>
  client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(root, "dist/cli.js"), "inspect", join(root, "resources/example")],
    }),
  ),
);
afterAll(() => client.close());

const call = async (name: string, input: Record<string, unknown>) => {
  const { content, isError = false } = await client.callTool({ name, arguments: input });
  return { isError, text: (content as { readonly text: string }[])[0]!.text };
};

test("its tools only read", async () => {
  const { tools } = await client.listTools();
  expect(tools.map(it => it.name)).toEqual(["prove_run", "prove_attempt", "prove_tasks"]);
  for (const { annotations, inputSchema, description } of tools) {
    expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
    expect(inputSchema.type).toBe("object");
    expect(description).toContain("at most 12,000 characters");
  }
});

test("it answers on a run and on an attempt with its reasons", async () => {
  const described = await call("prove_run", { run: "example" });
  expect(described.isError).toBe(false);
  expect(described.text).toContain("run example: finished after 50 steps");
  const { text } = await call("prove_attempt", { file: "prove/tasks/beginner.trajectory.jsonl" });
  expect(text).toContain("balance is 3939.24, should be 3929.24");
});

test("what cannot be answered is a failed call, after which it goes on", async () => {
  expect(await call("prove_run", { run: "gone" })).toEqual({
    isError: true,
    text: "there is no run gone; choose one of example",
  });
  expect((await call("prove_tasks", { file: "../package.json" })).text).toContain("outside");
  await expect(call("prove_delete", {})).rejects.toThrow("there is no tool prove_delete");
  expect((await call("prove_run", {})).isError).toBe(false);
});

test("a path that is no folder is refused", async () => {
  const { code, stderr } = await run(["inspect", join(root, "package.json")]);
  expect(code).toBe(2);
  expect(stderr).toContain("is not a folder");
});
