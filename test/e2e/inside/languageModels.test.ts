/** The editor's own language models as the terminal program asks for them: what they are told, what they answer, and how they fail. Runs inside the extension host. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { LanguageModelTextPart, LanguageModelToolCallPart, LanguageModelToolResultPart, lm, type Disposable, type LanguageModelChatRequestMessage, type ProvideLanguageModelChatResponseOptions } from "vscode";
import { editorModels, ModelAnswers } from "../../../src/editor/languageModels.ts";
import type { WorkAsk, WorkSays } from "../../../src/protocol/work.ts";

type Ask = Extract<WorkSays, { kind: "model-ask" }>;

const tool = { name: "banking_get_balance", description: "Tell a balance", parameters: { type: "object", properties: { account_id: { type: "string" } } } };
const ask = (id: number, more: Partial<Ask>): Ask => ({ kind: "model-ask", id, model: "parrot", messages: [{ role: "user", content: "How much is left?" }], ...more });

describe("the editor's own language models", () => {
  let registered: Disposable;
  let told: { readonly messages: readonly LanguageModelChatRequestMessage[]; readonly options: ProvideLanguageModelChatResponseOptions } | undefined;
  const answers: WorkAsk[] = [];
  const asked = new ModelAnswers(it => void answers.push(it));

  before(() => {
    registered = lm.registerLanguageModelChatProvider("carrier", {
      provideLanguageModelChatInformation: () => [{ id: "parrot", name: "Parrot", family: "parrot", version: "1", maxInputTokens: 1000, maxOutputTokens: 1000, capabilities: { toolCalling: true } }],
      async provideLanguageModelChatResponse(_, messages, options, progress, token) {
        told = { messages, options };
        const last = messages.at(-1)!.content[0];
        if (last instanceof LanguageModelTextPart && last.value === "hang") await new Promise<void>(resolve => void token.onCancellationRequested(() => resolve()));
        if (last instanceof LanguageModelTextPart && last.value === "break") throw new Error("the parrot flew away");
        progress.report(new LanguageModelTextPart("Let me "));
        progress.report(new LanguageModelTextPart("look."));
        progress.report(new LanguageModelToolCallPart("c1", tool.name, { account_id: "acc_1" }));
      },
      provideTokenCount: () => Promise.resolve(1),
    });
  });
  after(() => {
    registered.dispose();
    asked.dispose();
  });

  it("are listed", async () => {
    assert.deepEqual((await editorModels()).map(it => it.id), ["parrot"]);
  });

  it("hear the whole talk, get the tools of the ask and no others, and answer with words and calls", async () => {
    await asked.answer(
      ask(1, {
        tools: [tool],
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "How much is left?" },
          { role: "assistant", content: "", calls: [{ id: "c0", name: tool.name, arguments: { account_id: "acc_0" } }] },
          { role: "tool", call: "c0", content: "{\"error\":\"not_found\"}" },
        ],
      }),
    );
    assert.deepEqual(answers.at(-1), { kind: "model-answer", id: 1, text: "Let me look.", calls: [{ id: "c1", name: tool.name, arguments: { account_id: "acc_1" } }] });
    assert.deepEqual(told!.options.tools?.map(it => it.name), [tool.name]);
    assert.equal(told!.messages.length, 4);
    assert.ok(told!.messages[2]!.content[0] instanceof LanguageModelToolCallPart);
    assert.ok(told!.messages[3]!.content[0] instanceof LanguageModelToolResultPart);
  });

  it("say why they gave no answer", async () => {
    await asked.answer(ask(2, { messages: [{ role: "user", content: "break" }] }));
    assert.match(JSON.stringify(answers.at(-1)), /"model-failed","id":2.*flew away/);
    await asked.answer(ask(3, { model: "ghost" }));
    assert.deepEqual(answers.at(-1), { kind: "model-failed", id: 3, what: "the editor no longer offers ghost" });
  });

  it("are let alone once nobody waits for them", async () => {
    const n = answers.length;
    const hanging = asked.answer(ask(4, { messages: [{ role: "user", content: "hang" }] }));
    asked.cancel(4);
    await hanging;
    assert.equal(answers.length, n);
  });
});
