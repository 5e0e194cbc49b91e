/**
 * The editor's own language models as the terminal program asks for them: what they are told, what
 * they answer, and how they fail. The editor's part is played here.
 */
import { afterEach, expect, test, vi } from "vitest";
import type { ChatMessage } from "../../../src/policy/chatModel.ts";
import type { Completion, CompletionRequest } from "../../../src/protocol/work.ts";

interface Told {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly options: {
    readonly tools?: readonly { readonly name: string }[];
    readonly justification?: string;
  };
}

const played = vi.hoisted(() => {
  class TextPart {
    readonly value: string;
    constructor(value: string) {
      this.value = value;
    }
  }
  class ToolCallPart {
    readonly parts: readonly unknown[];
    readonly callId: string;
    readonly name: string;
    readonly input: object;
    constructor(...parts: [callId: string, name: string, input: object]) {
      this.parts = parts;
      [this.callId, this.name, this.input] = parts;
    }
  }
  class ToolResultPart {
    readonly parts: readonly unknown[];
    constructor(...parts: [callId: string, content: readonly unknown[]]) {
      this.parts = parts;
    }
  }
  class LanguageModelError extends Error {
    static NoPermissions = () => new LanguageModelError("NoPermissions");
    static Blocked = () => new LanguageModelError("Blocked");
    static NotFound = () => new LanguageModelError("NotFound");
    readonly code: string;
    constructor(code: string) {
      super("no");
      this.code = code;
    }
  }
  class TokenSource {
    readonly #heard: (() => void)[] = [];
    readonly token = {
      isCancellationRequested: false,
      onCancellationRequested: (it: () => void) => void this.#heard.push(it),
    };
    cancel() {
      this.token.isCancellationRequested = true;
      for (const it of this.#heard) it();
    }
    dispose() {}
  }
  const said = (role: string) => (content: unknown) => ({ role, content });
  return {
    TextPart,
    ToolCallPart,
    ToolResultPart,
    LanguageModelError,
    TokenSource,
    said,
    models: [] as { id: string; sendRequest: (...args: never[]) => unknown }[],
  };
});

vi.mock("vscode", () => ({
  CancellationTokenSource: played.TokenSource,
  CancellationError: class extends Error {},
  LanguageModelChatMessage: { User: played.said("user"), Assistant: played.said("assistant") },
  LanguageModelError: played.LanguageModelError,
  LanguageModelTextPart: played.TextPart,
  LanguageModelToolCallPart: played.ToolCallPart,
  LanguageModelToolResultPart: played.ToolResultPart,
  commands: {},
  lm: {
    selectChatModels: ({ id }: { id?: string } = {}) =>
      Promise.resolve(played.models.filter(it => id === undefined || it.id === id)),
  },
  window: { createOutputChannel: () => ({ warn() {}, error() {} }) },
}));

const { listEditorModels, completeWithEditorModel } =
  await import("../../../src/editor/synthesis/languageModels.ts");

const tool = {
  name: "banking_get_balance",
  description: "Tell a balance",
  parameters: { type: "object" },
};
const question: ChatMessage = { role: "user", content: "How much is left?" };

/** A model of the editor that answers with these parts, or as it is told. */
function model(
  answer: (token: {
    onCancellationRequested(it: () => void): void;
  }) => AsyncIterable<unknown> | Promise<never>,
): Told[] {
  const told: Told[] = [];
  const sendRequest = async (
    messages: Told["messages"],
    options: Told["options"],
    token: { onCancellationRequested(it: () => void): void },
  ) => {
    told.push({ messages, options });
    return { stream: await answer(token) };
  };
  played.models.push({ id: "parrot", sendRequest });
  return told;
}

afterEach(() => void played.models.splice(0));

const complete = (
  request: Partial<CompletionRequest>,
  signal = new AbortController().signal,
): Promise<Completion> =>
  completeWithEditorModel({ model: "parrot", messages: [question], ...request }, signal);

async function* parts(...all: unknown[]) {
  yield* all;
}

test("an editor without models has an empty list", async () =>
  expect(await listEditorModels()).toEqual([]));

test("a model receives all messages and the requested tools, and returns text and calls", async () => {
  const told = model(
    async () =>
      parts(
        new played.TextPart("Let me "),
        new played.TextPart("look."),
        { thinking: "…" },
        new played.ToolCallPart("c1", tool.name, { account_id: "acc_1" }),
      ) as never,
  );
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    question,
    {
      role: "assistant",
      content: "",
      calls: [{ id: "c0", name: tool.name, arguments: { account_id: "acc_0" } }],
    },
    { role: "tool", call: "c0", content: "not found" },
  ];
  expect(await complete({ messages, tools: [tool] })).toEqual({
    text: "Let me look.",
    calls: [{ id: "c1", name: tool.name, arguments: { account_id: "acc_1" } }],
  });
  expect(told[0]!.options.tools!.map(it => it.name)).toEqual([tool.name]);
  expect(told[0]!.options.justification).toContain("PROVE");
  expect(told[0]!.messages).toEqual([
    { role: "user", content: "Be brief." },
    { role: "user", content: "How much is left?" },
    {
      role: "assistant",
      content: [new played.ToolCallPart("c0", tool.name, { account_id: "acc_0" })],
    },
    {
      role: "user",
      content: [new played.ToolResultPart("c0", [new played.TextPart("not found")])],
    },
  ]);
});

test("a request without tools passes none", async () => {
  const told = model(async () => parts() as never);
  await complete({});
  expect(told[0]!.options.tools).toEqual([]);
});

const checkFailure = async (error: Error, what: string) => {
  // oxlint-disable-next-line promise/no-promise-in-callback
  model(() => Promise.reject(error));
  await expect(complete({})).rejects.toThrow(what);
};

test("missing consent is explained", () =>
  checkFailure(
    played.LanguageModelError.NoPermissions(),
    "you have not allowed PROVE to use parrot",
  ));
test("a used-up quota is explained", () =>
  checkFailure(played.LanguageModelError.Blocked(), "parrot is blocked: its quota is used up"));
test("any other error keeps its message", () =>
  checkFailure(new Error("the parrot flew away"), "the parrot flew away"));
test("a missing model is explained", async () =>
  expect(complete({})).rejects.toThrow("the editor no longer offers parrot"));

test("an interrupted answer is a failure", async () => {
  model(
    async () =>
      (async function* () {
        yield new played.TextPart("Let");
        throw new Error("the line is dead");
      })() as never,
  );
  await expect(complete({})).rejects.toThrow("the line is dead");
});

test("a cancellation reaches the model, and no model is asked after it", async () => {
  const cancellation = new AbortController();
  const told = model(
    token =>
      new Promise<never>((_, reject) =>
        token.onCancellationRequested(() => reject(new Error("cancelled"))),
      ),
  );
  const hanging = complete({}, cancellation.signal);
  await vi.waitFor(() => expect(told).toHaveLength(1));
  cancellation.abort();
  await expect(hanging).rejects.toThrow("cancelled");
  await expect(complete({}, cancellation.signal)).rejects.toBeInstanceOf(Error);
  expect(told).toHaveLength(1);
});
