/** A server that is offered to the editor's agents. Runs inside the extension host. */
import assert from "node:assert/strict";
import { after, describe, it } from "mocha";
import { commands, lm, workspace, LanguageModelTextPart } from "vscode";

const offer = (...servers: string[]) =>
  workspace
    .getConfiguration("prove")
    .update("agentServers", servers.length ? servers : undefined, true);
const findTools = (server: string) => lm.tools.filter(it => it.name.includes(`${server}_`));

/** Starts a server as an agent does when its chat begins. */
const start = (server: string) =>
  commands.executeCommand("workbench.mcp.startServer", `prove-rl.prove-rl/PROVE ${server}`, {
    autoTrustChanges: true,
    waitForLiveTools: true,
  });

/** Waits until a condition holds: the editor queries a provider some time after a change. */
async function waitUntil(
  problem: string,
  condition: () => boolean,
  retry: () => unknown = () => {},
): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (condition()) return;
    await retry();
    await new Promise(resolve => setTimeout(resolve, 300));
  }
  assert.fail(
    `${problem} after two minutes; the tools are ${lm.tools.map(it => it.name).join(", ")}`,
  );
}

async function callTool(tool: string, input: object): Promise<string> {
  const { content } = await lm.invokeTool(lm.tools.find(it => it.name.endsWith(tool))!.name, {
    input,
    toolInvocationToken: undefined,
  });
  return content.map(it => (it instanceof LanguageModelTextPart ? it.value : "")).join("");
}

describe("servers offered to the editor's agents", () => {
  after(() => offer());

  it("are none by default", () => {
    assert.deepEqual(findTools("banking"), []);
  });

  it("have all their tools and keep the state of one session", async () => {
    await offer("banking");
    await waitUntil(
      "banking does not have its 17 tools",
      () => findTools("banking").length === 17,
      () => start("banking"),
    );
    assert.match(await callTool("banking_get_balance", { account_id: "acc_101" }), /"balance":/);
    const before = await callTool("banking_get_balance", { account_id: "acc_115" });
    await callTool("banking_transfer", {
      from_account: "acc_101",
      to_account: "acc_115",
      amount: 1.5,
    });
    assert.notEqual(await callTool("banking_get_balance", { account_id: "acc_115" }), before);
    assert.match(await callTool("banking_get_balance", { account_id: "acc_1" }), /not_found/);
  });

  it("are removed when the offer is withdrawn", async () => {
    await offer();
    await waitUntil("banking is still there", () => findTools("banking").length === 0);
  });
});
