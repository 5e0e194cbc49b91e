/** The questions of Start Training, answered as in the editor by a fake of the VS Code API. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import type { Memento, Uri } from "vscode";
import type {
  TrainingChoices,
  TrainingPromptContext,
} from "../../../src/editor/runs/trainingPrompts.ts";
import type { FitCounts } from "../../../src/run/startModel.ts";

interface Question {
  readonly text: string;
  readonly labels: readonly string[];
  /** The description of the first item. */
  readonly description: string | undefined;
}

const editor = vi.hoisted(() => {
  const state = {
    /** The questions that were asked. */
    questions: [] as Question[],
    /** The labels to choose; the first item otherwise. */
    answers: [] as string[],
    /** The folder to choose. */
    folder: "",
  };
  const createInput = () => {
    const listeners: Record<string, () => void> = {};
    const listen = (name: string) => (listener: () => void) => {
      listeners[name] = listener;
      return { dispose() {} };
    };
    return {
      items: [] as { label: string; description?: string }[],
      selectedItems: [] as { label: string }[],
      placeholder: "",
      value: "",
      onDidAccept: listen("accept"),
      onDidHide: listen("hide"),
      onDidTriggerButton: listen("button"),
      onDidChangeValue: listen("change"),
      hide() {
        listeners["hide"]!();
      },
      dispose() {},
      show() {
        state.questions.push({
          text: this.placeholder,
          labels: this.items.map(it => it.label),
          description: this.items[0]?.description,
        });
        const chosen = this.items.find(it => state.answers.includes(it.label)) ?? this.items[0];
        if (chosen) this.selectedItems = [chosen];
        listeners["accept"]!();
      },
    };
  };
  const Shown = Object;
  return {
    state,
    api: {
      window: {
        showOpenDialog: () => Promise.resolve([{ fsPath: state.folder }]),
        createQuickPick: createInput,
        createInputBox: createInput,
      },
      workspace: { asRelativePath: (it: { fsPath: string }) => it.fsPath },
      QuickInputButtons: { Back: {} },
      CancellationError: class extends Error {},
      ThemeIcon: Shown,
      ThemeColor: Shown,
      MarkdownString: Shown,
      ProgressLocation: {},
    },
  };
});
vi.mock("vscode", () => editor.api);
const { promptForTraining } = await import("../../../src/editor/runs/trainingPrompts.ts");

const root = mkdtempSync(join(tmpdir(), "prove-prompts-"));
afterAll(() => rmSync(root, { recursive: true }));

const createStudent = (name: string) => {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const config = { name, saw: { servers: { banking: "1", calendar: "2" } } };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  return { label: name, description: "", folder };
};
const students = [createStudent("careless"), createStudent("small")];

let stored: Record<string, unknown> = {};
beforeEach(() => {
  stored = {};
  editor.state.questions = [];
  editor.state.answers = [];
});

const createUri = (path: string) => ({ fsPath: path }) as Uri;
const files = ["/a.tasks.jsonl", "/b.tasks.jsonl"].map(createUri);
const enough = { train: 800, heldOut: 200 };
const fitting = files.map(file => ({ file, ...enough }));
const made = createUri("/made.tasks.jsonl");
const makeTasks = { label: "Tasks", description: "", create: () => Promise.resolve(made) };
const folderChoice = "A Hugging Face folder…";
const making = "Make 1,000 tasks, then train";

async function prompt(
  train: Partial<FitCounts>,
  options: Partial<TrainingPromptContext> = {},
): Promise<TrainingChoices> {
  const counts = { total: 0, fitting: 0, unknownServers: 0, tooLong: 0 };
  const workspaceState = {
    get: (key: string) => stored[key],
    update: (key: string, value: unknown) => Promise.resolve(void (stored[key] = value)),
  } as unknown as Memento;
  return promptForTraining({
    tasks: undefined,
    title: "Start Training",
    listFiles: () => Promise.resolve(files),
    listFitting: () => Promise.resolve(fitting),
    sources: [makeTasks],
    students,
    checkFit: () =>
      Promise.resolve({
        train: { ...counts, ...train },
        heldOut: { ...counts, total: 20, fitting: 20 },
        unknownServers: [],
      }),
    workspaceState,
    others: [],
    ...options,
  });
}

test("the first choice is a short training of the student that improves most", async () => {
  const choices = await prompt({ total: 800, fitting: 800 });
  expect(choices).toMatchObject({
    tasks: { fsPath: "/a.tasks.jsonl" },
    student: { name: "careless" },
    onlyFitting: false,
    objective: "prove",
    profile: "prove-plus",
    length: { steps: 12 },
    backend: "auto",
  });
  expect(editor.state.questions).toEqual([
    {
      text: "What to train; the student is the model that learns",
      labels: ["A first training", "Choose the settings…", folderChoice],
      description: "careless on a, 1,000 tasks, 200 held out · GRPO · 12 steps",
    },
  ]);
});

const otherAnswers = ["Choose the settings…", "b", "small", "DAPO", "1 hour", "WebAssembly"];
const otherChoices = {
  tasks: { fsPath: "/b.tasks.jsonl" },
  student: { name: "small" },
  objective: "dapo",
  length: { seconds: 3600 },
  backend: "wasm",
};

test("the last answers come first", async () => {
  editor.state.answers = otherAnswers;
  await prompt({ total: 800, fitting: 800 });
  editor.state.answers = ["Choose the settings…"];
  expect(await prompt({ total: 800, fitting: 800 })).toMatchObject(otherChoices);
});

test("the first choice then is the last training again", async () => {
  editor.state.answers = otherAnswers;
  await prompt({ total: 800, fitting: 800 });
  editor.state.answers = [];
  editor.state.questions = [];
  expect(await prompt({ total: 800, fitting: 800 })).toMatchObject(otherChoices);
  expect(editor.state.questions.map(it => it.labels[0])).toEqual(["The last training again"]);
});

test("without the file of the last training, it takes the newest that fits", async () => {
  editor.state.answers = otherAnswers;
  await prompt({ total: 800, fitting: 800 });
  editor.state.answers = [];
  editor.state.questions = [];
  const left = {
    listFiles: () => Promise.resolve([files[0]!]),
    listFitting: () => Promise.resolve([fitting[0]!]),
  };
  expect(await prompt({ total: 800, fitting: 800 }, left)).toMatchObject({
    tasks: { fsPath: "/a.tasks.jsonl" },
    student: { name: "small" },
  });
  expect(editor.state.questions).toMatchObject([
    {
      labels: ["With the last settings", "Choose the settings…", folderChoice],
      description: "small on a, 1,000 tasks, 200 held out · DAPO · 1 hour",
    },
  ]);
});

test.each([
  ["no file fits", [], "What to train; the student is the model that learns", [making]],
  [
    "there are few tasks",
    [{ file: files[0]!, train: 2, heldOut: 0 }],
    "a, 2 tasks, none held out: too few to learn from",
    [making, "A first training"],
  ],
  [
    "none is held out",
    [{ file: files[0]!, train: 900, heldOut: 0 }],
    "a, 900 tasks, none held out: success could not be measured",
    [making, "A first training"],
  ],
])("if %s, the first choice makes tasks, then trains on them", async (_, found, text, labels) => {
  const choices = await prompt(
    { total: 800, fitting: 800 },
    { listFitting: () => Promise.resolve(found) },
  );
  expect(choices).toMatchObject({ tasks: made, student: { name: "careless" } });
  expect(editor.state.questions).toEqual([
    {
      text,
      labels: [...labels, "Choose the settings…", folderChoice],
      description: "careless on new tasks, a fifth held out · GRPO · 12 steps",
    },
  ]);
});

test("few tasks can be trained on all the same, without another question", async () => {
  editor.state.answers = ["A first training"];
  const listFitting = () => Promise.resolve([{ file: files[0]!, train: 2, heldOut: 0 }]);
  const choices = await prompt({ total: 2, fitting: 2 }, { listFitting });
  expect(choices.tasks).toBe(files[0]);
  expect(editor.state.questions).toHaveLength(1);
});

test("a file with enough tasks comes before a newer one with too few", async () => {
  const few = { file: files[0]!, train: 2, heldOut: 0 };
  const listFitting = () => Promise.resolve([few, fitting[1]!]);
  const choices = await prompt({ total: 800, fitting: 800 }, { listFitting });
  expect(choices.tasks).toBe(files[1]);
});

test("on a given file with few tasks, making some is the second choice", async () => {
  const listFitting = () => Promise.resolve([{ file: files[0]!, train: 2, heldOut: 0 }]);
  const choices = await prompt({ total: 2, fitting: 2 }, { tasks: files[0], listFitting });
  expect(choices.tasks).toBe(files[0]);
  expect(editor.state.questions[0]!.labels).toEqual([
    "A first training",
    making,
    "Choose the settings…",
    folderChoice,
  ]);
});

test("if most tasks of the first choice are too long, it offers to make some", async () => {
  const counts = { total: 900, fitting: 12, tooLong: 888 };
  const checkFit = vi
    .fn<TrainingPromptContext["checkFit"]>()
    .mockResolvedValueOnce({
      train: { ...counts, unknownServers: 0 },
      heldOut: { total: 90, fitting: 0, unknownServers: 0, tooLong: 90 },
      unknownServers: [],
    })
    .mockResolvedValue({
      train: { total: 800, fitting: 800, unknownServers: 0, tooLong: 0 },
      heldOut: { total: 200, fitting: 200, unknownServers: 0, tooLong: 0 },
      unknownServers: [],
    });
  expect(await prompt({}, { checkFit })).toMatchObject({ tasks: made, onlyFitting: false });
  expect(editor.state.questions[1]).toMatchObject({
    text: "12 tasks, none held out: too few to learn from",
    labels: [making, "Train on a"],
  });
});

test("if some tasks do not fit, it says how many do, and trains on these by default", async () => {
  const counts = { total: 2500, fitting: 312, unknownServers: 2000, tooLong: 188 };
  expect(await prompt(counts)).toMatchObject({ onlyFitting: true });
  expect(editor.state.questions).toHaveLength(1);
  editor.state.answers = ["Choose the settings…"];
  expect(await prompt(counts)).toMatchObject({ onlyFitting: true });
  expect(editor.state.questions[4]).toMatchObject({
    text: "312 of 2,500 tasks fit careless",
    labels: ["Train on the 312 tasks that fit", "Train on all 2,500 tasks"],
  });
  editor.state.answers = ["Choose the settings…", "Train on all 2,500 tasks"];
  expect(await prompt(counts)).toMatchObject({ onlyFitting: false });
});

test("if none fits, the training is refused with what to do", async () => {
  editor.state.answers = ["Choose the settings…"];
  await expect(prompt({ total: 12, unknownServers: 12 })).rejects.toMatchObject({
    what: "none of the 12 tasks in a.tasks.jsonl fits careless, which knows banking and calendar",
    button: { command: "prove.synthesizeTasks" },
  });
  await expect(prompt({})).rejects.toThrow(/a\.tasks\.jsonl has no tasks to train on/);
});

test("in a folder without tasks, the first choice makes those for the student", async () => {
  const create = (path: string) => () => Promise.resolve(createUri(path));
  const choices = await prompt(
    { total: 800, fitting: 800 },
    {
      listFiles: () => Promise.resolve([]),
      listFitting: () => Promise.resolve([]),
      sources: [
        { label: "Tasks for the student", description: "", create: create("/made.tasks.jsonl") },
        { label: "The example", description: "", create: create("/example.tasks.jsonl") },
      ],
    },
  );
  expect(choices.tasks.fsPath).toBe("/made.tasks.jsonl");
});

test("on a given file, there is no question about the tasks", async () => {
  editor.state.answers = ["Choose the settings…"];
  const tasks = createUri("/given.tasks.jsonl");
  expect(await prompt({ total: 800, fitting: 800 }, { tasks })).toMatchObject({ tasks });
  expect(editor.state.questions[1]?.labels).toEqual(["careless", "small", "Choose Folder…"]);
});

test("other ways to train follow, and ask their own questions", async () => {
  const start = vi.fn<() => Promise<void>>().mockResolvedValue();
  const others = [{ label: "With TRL or verl…", description: "", start }];
  editor.state.answers = ["With TRL or verl…"];
  await expect(prompt({}, { others })).rejects.toBeInstanceOf(editor.api.CancellationError);
  expect(start).toHaveBeenCalledOnce();
  expect(editor.state.questions).toMatchObject([
    { labels: ["A first training", "Choose the settings…", folderChoice, "With TRL or verl…"] },
  ]);
});

test("the folder of a model takes the place of the student, which is not asked for then", async () => {
  editor.state.folder = createStudent("own").folder;
  editor.state.answers = [folderChoice];
  expect(await prompt({ total: 800, fitting: 800 })).toMatchObject({ student: { name: "own" } });
  expect(editor.state.questions.map(it => it.text)).not.toContainEqual(
    expect.stringMatching(/Which student/),
  );
});
