/**
 * Asks a person what to synthesize, question by question, beginning with what they answered last.
 * Starts nothing.
 */
import { existsSync } from "node:fs";
import { Uri, type LanguageModelChat, type Memento } from "vscode";
import { validateAddress } from "./endpointKeys.ts";
import { icons } from "../shared/icons.ts";
import {
  askInSequence,
  pickOne,
  pickMany,
  askText,
  wholeNumberValidator,
} from "../shared/quickInput.ts";

/** Who shall teach. An endpoint's key is no part of it. */
export type TeacherChoice =
  | { readonly kind: "graph" }
  | { readonly kind: "endpoint"; readonly url: string; readonly model: string }
  | { readonly kind: "editor"; readonly model: string };

/** What to synthesize; remembered as it is, and so without any secret. */
export interface SynthesisRequest {
  /** Empty: all there are. */
  readonly servers: readonly string[];
  readonly teacher: TeacherChoice;
  /** Which mixture of talks; the paper's where absent. */
  readonly preset?: "paper" | "student";
  readonly count: number;
  readonly seed: number;
}

export interface PromptContext {
  readonly servers: readonly {
    readonly name: string;
    readonly tools: ReadonlyMap<string, unknown>;
    readonly category: string;
  }[];
  /** The editor's own, if it has any. */
  readonly models: readonly LanguageModelChat[];
  /** The folder that the file goes to. */
  readonly folder: Uri;
  readonly remembered: Memento;
  /** Of the settings. */
  readonly endpoint: { readonly url: string; readonly model: string };
}

const title = "Synthesize Tasks";
const last = "prove.synthesis.last";

/** The ask, and the file to write. Throws a `CancellationError` on Escape. */
export async function promptForSynthesis({
  servers,
  models,
  folder,
  remembered,
  endpoint,
}: PromptContext): Promise<{ readonly ask: SynthesisRequest; readonly file: Uri }> {
  const before = remembered.get<SynthesisRequest>(last) ?? {
    servers: [],
    teacher: { kind: "graph" },
    count: 300,
    seed: 1,
  };
  let { servers: chosen, teacher, preset = "paper", count, seed } = before;
  let file = folder;
  await askInSequence([
    async hasBack => {
      const items = servers.map(it => ({
        label: it.name,
        description: `${it.tools.size} tools · ${it.category}`,
        iconPath: icons.server,
      }));
      const picked = await pickMany(
        items,
        { title, hasBack, text: "On which servers" },
        {
          selected: items.filter(it => chosen.length === 0 || chosen.includes(it.label)),
          validate: it => (it.length === 0 ? "choose at least one" : undefined),
        },
      );
      chosen = picked.length === servers.length ? [] : picked.map(it => it.label);
    },
    async hasBack => {
      const items = [
        {
          label: "The dependency graph",
          description: "offline, the same for the same seed",
          teaches: "graph" as const,
        },
        {
          label: "An endpoint…",
          description: "a model behind an OpenAI-compatible address",
          teaches: "endpoint" as const,
        },
        ...(models.length
          ? [
              {
                label: "A language model of the editor…",
                description: `${models.length} on offer`,
                teaches: "editor" as const,
              },
            ]
          : []),
      ];
      const first = items.toSorted(
        (a, b) => Number(b.teaches === teacher.kind) - Number(a.teaches === teacher.kind),
      );
      const { teaches: kind } = await pickOne(first, { title, hasBack, text: "Who teaches" });
      if (kind === teacher.kind) return;
      teacher =
        kind === "graph"
          ? { kind }
          : kind === "editor"
            ? { kind, model: models[0]!.id }
            : { kind, ...endpoint };
    },
    async hasBack => {
      if (teacher.kind !== "endpoint") return false;
      const url = await askText(
        { title, hasBack, text: "The endpoint's address, which /chat/completions is put behind" },
        {
          value: teacher.url || endpoint.url,
          placeholder: "http://127.0.0.1:8000/v1",
          validate: validateAddress,
        },
      );
      teacher = { ...teacher, url };
      return true;
    },
    async hasBack => {
      if (teacher.kind === "graph") return false;
      if (teacher.kind === "editor")
        teacher = { ...teacher, model: await pickModel(models, hasBack) };
      else
        teacher = {
          ...teacher,
          model: await askText(
            { title, hasBack, text: "The model, as the endpoint names it" },
            {
              value: teacher.model || endpoint.model,
              validate: it => (it.trim() ? undefined : "a name"),
            },
          ),
        };
      return true;
    },
    async hasBack => {
      if (teacher.kind !== "graph") return false;
      const items = [
        {
          label: "The paper's mixture",
          description: "two or three turns, missing tools, questions that need no tool",
          of: "paper" as const,
        },
        {
          label: "What the small student can hold",
          description: "short menus; it knows banking, calendar and filesystem",
          of: "student" as const,
        },
      ];
      preset = (
        await pickOne(
          items.toSorted((a, b) => Number(b.of === preset) - Number(a.of === preset)),
          { title, hasBack, text: "Which mixture of talks" },
        )
      ).of;
      return true;
    },
    async hasBack =>
      (count = Number(
        await askText(
          { title, hasBack, text: "How many tasks" },
          { value: String(count), validate: wholeNumberValidator(1, 1_000_000) },
        ),
      )),
    async hasBack =>
      (seed = Number(
        await askText(
          { title, hasBack, text: "Seed: the same one gives the same tasks" },
          { value: String(seed), validate: wholeNumberValidator(0, 2 ** 31) },
        ),
      )),
    async hasBack => {
      const name = await askText(
        { title, hasBack, text: "The file's name, without .tasks.jsonl" },
        {
          value: suggestName(folder, chosen, count, seed),
          validate: it => validateName(folder, it),
        },
      );
      file = Uri.joinPath(folder, `${name}.tasks.jsonl`);
    },
  ]);
  const ask = {
    servers: chosen,
    teacher,
    ...(teacher.kind === "graph" ? { preset } : {}),
    count,
    seed,
  };
  await remembered.update(last, ask);
  return { ask, file };
}

async function pickModel(models: readonly LanguageModelChat[], hasBack: boolean): Promise<string> {
  const items = models.map(it => ({
    label: it.name,
    description: `${it.vendor} · ${it.family}`,
    id: it.id,
  }));
  return (await pickOne(items, { title, hasBack, text: "Which of the editor's models" })).id;
}

function suggestName(folder: Uri, servers: readonly string[], count: number, seed: number): string {
  const on =
    servers.length === 0
      ? "all"
      : servers.slice(0, 3).join("-") + (servers.length > 3 ? `-and-${servers.length - 3}` : "");
  for (let n = 1; ; n++) {
    const name = `${on}-${count}-seed-${seed}${n === 1 ? "" : `-${n}`}`;
    if (validateName(folder, name) === undefined) return name;
  }
}

function validateName(folder: Uri, name: string): string | undefined {
  if (!/^[\w-][\w. -]*$/.test(name) || name.endsWith("."))
    return "letters, digits, dots, dashes and blanks";
  return existsSync(Uri.joinPath(folder, `${name}.tasks.jsonl`).fsPath)
    ? "a file of that name is there already"
    : undefined;
}
