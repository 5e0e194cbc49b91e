/**
 * A server that is offered to the editor's own agents, asked for as they ask for it. Runs inside
 * the extension host.
 */
import assert from "node:assert/strict";
import { after, describe, it } from "mocha";
import { commands, lm, workspace, LanguageModelTextPart } from "vscode";

const offer = (...servers: string[]) =>
  workspace
    .getConfiguration("prove")
    .update("agentServers", servers.length ? servers : undefined, true);
const toolsOf = (server: string) => lm.tools.filter(it => it.name.includes(`${server}_`));

/** As an agent does when its chat begins. */
const start = (server: string) =>
  commands.executeCommand("workbench.mcp.startServer", `prove-rl.prove-rl/PROVE ${server}`, {
    autoTrustChanges: true,
    waitForLiveTools: true,
  });

/**
 * Waits until it is so; the editor asks a provider anew some time after it was told of a change.
 */
async function until(
  what: string,
  isSo: () => boolean,
  urge: () => unknown = () => {},
): Promise<void> {
  for (let i = 0; i < 100; i++) {
    if (isSo()) return;
    await urge();
    await new Promise(resolve => setTimeout(resolve, 300));
  }
  assert.fail(
    `${what}, even after half a minute; there are ${lm.tools.map(it => it.name).join(", ")}`,
  );
}

async function answer(tool: string, input: object): Promise<string> {
  const { content } = await lm.invokeTool(lm.tools.find(it => it.name.endsWith(tool))!.name, {
    input,
    toolInvocationToken: undefined,
  });
  return content.map(it => (it instanceof LanguageModelTextPart ? it.value : "")).join("");
}

describe("servers offered to the editor's agents", () => {
  after(() => offer());

  it("are none unless a person says so", () => {
    assert.deepEqual(toolsOf("banking"), []);
  });

  it("come with all their tools, answer over one session, and remember", async () => {
    await offer("banking");
    await until(
      "banking has not its 17 tools",
      () => toolsOf("banking").length === 17,
      () => start("banking"),
    );
    assert.match(await answer("banking_get_balance", { account_id: "acc_101" }), /"balance":/);
    const before = await answer("banking_get_balance", { account_id: "acc_115" });
    await answer("banking_transfer", {
      from_account: "acc_101",
      to_account: "acc_115",
      amount: 1.5,
    });
    assert.notEqual(await answer("banking_get_balance", { account_id: "acc_115" }), before);
    assert.match(await answer("banking_get_balance", { account_id: "acc_1" }), /not_found/);
  });

  it("are gone when the offer is withdrawn", async () => {
    await offer();
    await until("banking is still there", () => toolsOf("banking").length === 0);
  });
});
