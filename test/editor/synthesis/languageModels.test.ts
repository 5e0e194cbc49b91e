/**
 * Completions of the editor's language models: the requests that the models receive, their answers
 * and their errors. A fake of the VS Code API stands in for the editor.
 */
import { afterEach, expect, test, vi } from "vitest";
import type { ChatMessage } from "../../../src/policy/chatModel.ts";
import type { Completion, CompletionRequest } from "../../../src/protocol/work.ts";

interface ReceivedRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly options: {
    readonly tools?: readonly { readonly name: string }[];
    readonly justification?: string;
  };
}

const fakeEditor = vi.hoisted(() => {
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
    readonly #listeners: (() => void)[] = [];
    readonly token = {
      isCancellationRequested: false,
      onCancellationRequested: (it: () => void) => void this.#listeners.push(it),
    };
    cancel() {
      this.token.isCancellationRequested = true;
      for (const it of this.#listeners) it();
    }
    dispose() {}
  }
  const createMessage = (role: string) => (content: unknown) => ({ role, content });
  return {
    TextPart,
    ToolCallPart,
    ToolResultPart,
    LanguageModelError,
    TokenSource,
    createMessage,
    models: [] as { id: string; sendRequest: (...args: never[]) => unknown }[],
  };
});

vi.mock("vscode", () => ({
  CancellationTokenSource: fakeEditor.TokenSource,
  CancellationError: class extends Error {},
  LanguageModelChatMessage: {
    User: fakeEditor.createMessage("user"),
    Assistant: fakeEditor.createMessage("assistant"),
  },
  LanguageModelError: fakeEditor.LanguageModelError,
  LanguageModelTextPart: fakeEditor.TextPart,
  LanguageModelToolCallPart: fakeEditor.ToolCallPart,
  LanguageModelToolResultPart: fakeEditor.ToolResultPart,
  commands: {},
  lm: {
    selectChatModels: ({ id }: { id?: string } = {}) =>
      Promise.resolve(fakeEditor.models.filter(it => id === undefined || it.id === id)),
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

/** Adds a model to the editor. Returns the requests that it receives. */
function addModel(
  answer: (token: {
    onCancellationRequested(it: () => void): void;
  }) => AsyncIterable<unknown> | Promise<never>,
): ReceivedRequest[] {
  const requests: ReceivedRequest[] = [];
  const sendRequest = async (
    messages: ReceivedRequest["messages"],
    options: ReceivedRequest["options"],
    token: { onCancellationRequested(it: () => void): void },
  ) => {
    requests.push({ messages, options });
    return { stream: await answer(token) };
  };
  fakeEditor.models.push({ id: "parrot", sendRequest });
  return requests;
}

afterEach(() => void fakeEditor.models.splice(0));

const complete = (
  request: Partial<CompletionRequest>,
  signal = new AbortController().signal,
): Promise<Completion> =>
  completeWithEditorModel({ model: "parrot", messages: [question], ...request }, signal);

async function* streamParts(...parts: unknown[]) {
  yield* parts;
}

test("an editor without models has an empty list", async () =>
  expect(await listEditorModels()).toEqual([]));

test("a model receives all messages and the requested tools, and returns text and calls", async () => {
  const requests = addModel(
    async () =>
      streamParts(
        new fakeEditor.TextPart("Let me "),
        new fakeEditor.TextPart("look."),
        { thinking: "…" },
        new fakeEditor.ToolCallPart("c1", tool.name, { account_id: "acc_1" }),
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
  expect(requests[0]!.options.tools!.map(it => it.name)).toEqual([tool.name]);
  expect(requests[0]!.options.justification).toContain("PROVE");
  expect(requests[0]!.messages).toEqual([
    { role: "user", content: "Be brief." },
    { role: "user", content: "How much is left?" },
    {
      role: "assistant",
      content: [new fakeEditor.ToolCallPart("c0", tool.name, { account_id: "acc_0" })],
    },
    {
      role: "user",
      content: [new fakeEditor.ToolResultPart("c0", [new fakeEditor.TextPart("not found")])],
    },
  ]);
});

test("a request without tools passes none", async () => {
  const requests = addModel(async () => streamParts() as never);
  await complete({});
  expect(requests[0]!.options.tools).toEqual([]);
});

const checkFailure = async (error: Error, what: string) => {
  // oxlint-disable-next-line promise/no-promise-in-callback
  addModel(() => Promise.reject(error));
  await expect(complete({})).rejects.toThrow(what);
};

test("missing consent is explained", () =>
  checkFailure(
    fakeEditor.LanguageModelError.NoPermissions(),
    "you have not allowed PROVE to use parrot",
  ));
test("a used-up quota is explained", () =>
  checkFailure(fakeEditor.LanguageModelError.Blocked(), "parrot is blocked: its quota is used up"));
test("any other error keeps its message", () =>
  checkFailure(new Error("the parrot flew away"), "the parrot flew away"));
test("a missing model is explained", async () =>
  expect(complete({})).rejects.toThrow("the editor no longer offers parrot"));

test("an interrupted answer is a failure", async () => {
  addModel(
    async () =>
      (async function* () {
        yield new fakeEditor.TextPart("Let");
        throw new Error("the line is dead");
      })() as never,
  );
  await expect(complete({})).rejects.toThrow("the line is dead");
});

test("a cancellation reaches the model, and no request is sent after it", async () => {
  const cancellation = new AbortController();
  const requests = addModel(
    token =>
      new Promise<never>((_, reject) =>
        token.onCancellationRequested(() => reject(new Error("cancelled"))),
      ),
  );
  const completion = complete({}, cancellation.signal);
  await expect.poll(() => requests).toHaveLength(1);
  cancellation.abort();
  await expect(completion).rejects.toThrow("cancelled");
  await expect(complete({}, cancellation.signal)).rejects.toBeInstanceOf(Error);
  expect(requests).toHaveLength(1);
});
