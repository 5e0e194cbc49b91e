/**
 * Asks for the options of a synthesis, question by question, starting from the last answers: the
 * teacher (the dependency graph, an endpoint or an editor's model), the servers and the sizes.
 */
import { existsSync } from "node:fs";
import { type LanguageModelChat, type Memento, Uri } from "vscode";
import { icons } from "../shared/icons.ts";
import {
  askInSequence,
  askText,
  createWholeNumberValidator,
  pickMany,
  pickOne,
  type Question,
} from "../shared/quickInput.ts";
import { difficulties, type Difficulty } from "../../synthesis/pipeline/report/demands.ts";
import { validateAddress } from "./endpointKeys.ts";

/** The answers, as they are stored for the next time. They contain no secret. */
export interface SynthesisChoices {
  /** Empty for all servers that ship. */
  readonly servers: readonly string[];
  readonly teacher: TeacherChoice;
  /** The preset of the graph teacher. */
  readonly preset?: "paper" | "student" | undefined;
  /** The difficulty of all normal tasks; mixed without it. */
  readonly difficulty?: Difficulty | undefined;
  readonly count: number;
  readonly seed: number;
}

interface PromptContext {
  readonly servers: readonly {
    readonly name: string;
    readonly tools: ReadonlyMap<string, unknown>;
    readonly category: string;
  }[];
  /** The names of those that ship. */
  readonly shipped: ReadonlySet<string>;
  /** The language models of the editor. */
  readonly models: readonly LanguageModelChat[];
  /** The folder of the new file. */
  readonly folder: Uri;
  readonly workspaceState: Memento;
  /** The endpoint in the settings. */
  readonly endpoint: { readonly url: string; readonly model: string };
  /** The servers that the shipped student was trained on. */
  readonly studentServers: readonly string[];
}

/** The tasks that a first training needs. */
export const studentTasks = {
  label: "Tasks for the student that ships",
  description: "1,000 short tasks on its servers; a fifth is held out",
  count: 1000,
} as const;

/** The answers so far. */
interface Draft {
  isForStudent: boolean;
  servers: readonly string[];
  teacher: TeacherChoice;
  preset: "paper" | "student";
  difficulty: Difficulty | undefined;
  count: number;
  seed: number;
  fileName: string;
}

/** A question sets a field of the draft. It resolves to `false` if it does not apply. */
type AskQuestion = (draft: Draft, context: PromptContext, hasBack: boolean) => Promise<boolean>;

const title = "Synthesize Tasks";
const storedKey = "prove.synthesis.last";

/** The choices, and the file to write. Throws a `CancellationError` on Escape. */
export async function promptForSynthesis(
  context: PromptContext,
): Promise<{ readonly choices: SynthesisChoices; readonly file: Uri }> {
  const stored = context.workspaceState.get<SynthesisChoices>(storedKey);
  const draft: Draft = {
    isForStudent: false,
    servers: [],
    teacher: { kind: "graph" },
    count: 300,
    seed: 1,
    ...stored,
    preset: stored?.preset ?? "paper",
    difficulty: stored?.difficulty,
    fileName: "",
  };
  await askInSequence([
    (hasBack: boolean) => askKind(draft, context, hasBack),
    ...questions.map(
      ask => async (hasBack: boolean) => !draft.isForStudent && ask(draft, context, hasBack),
    ),
  ]);
  if (draft.isForStudent) return createStudentSynthesis(context.folder, context.studentServers);
  const { servers, teacher, preset, difficulty, count, seed, fileName } = draft;
  const choices = {
    servers,
    teacher,
    ...(teacher.kind === "graph" ? { preset, difficulty } : {}),
    count,
    seed,
  };
  await context.workspaceState.update(storedKey, choices);
  return { choices, file: getFile(context.folder, fileName) };
}

/** The synthesis of the tasks for the shipped student, without questions. */
export function createStudentSynthesis(
  folder: Uri,
  servers: readonly string[],
): { readonly choices: SynthesisChoices; readonly file: Uri } {
  const { count } = studentTasks;
  const choices = {
    servers,
    teacher: { kind: "graph" },
    preset: "student",
    count,
    seed: 1,
  } as const;
  return { choices, file: getFile(folder, findUnusedName(folder, "student")) };
}

const askKind: AskQuestion = async (draft, { workspaceState }, hasBack) => {
  const forStudent = { ...studentTasks, iconPath: icons.taskFile, isForStudent: true };
  const other = {
    label: "Other tasks…",
    iconPath: icons.settings,
    description: "choose servers, teacher, mixture and number",
    isForStudent: false,
  };
  const wasOther = workspaceState.get(storedKey) !== undefined;
  const items = wasOther ? [other, forStudent] : [forStudent, other];
  const question = { title, hasBack, text: "Which tasks to synthesize" };
  draft.isForStudent = (await pickOne(items, question)).isForStudent;
  return true;
};

const askServers: AskQuestion = async (draft, { servers, shipped }, hasBack) => {
  const items = servers.map(it => ({
    label: it.name,
    description: `${it.tools.size} tools · ${it.category}`,
    iconPath: icons.server,
  }));
  const chosen = await pickMany(
    items,
    { title, hasBack, text: "On which servers" },
    {
      selected: items.filter(it =>
        draft.servers.length === 0 ? shipped.has(it.label) : draft.servers.includes(it.label),
      ),
      validate: it => (it.length === 0 ? "choose at least one server" : undefined),
    },
  );
  const names = chosen.map(it => it.label);
  const areShipped = names.length === shipped.size && names.every(it => shipped.has(it));
  draft.servers = areShipped ? [] : names;
  return true;
};

const askTeacher: AskQuestion = async (draft, { models, endpoint }, hasBack) => {
  const question = { title, hasBack, text: "Which teacher" };
  draft.teacher = await pickTeacher(draft.teacher, question, models, endpoint);
  return true;
};

const askEndpointUrl: AskQuestion = async (draft, { endpoint }, hasBack) => {
  const { teacher } = draft;
  if (teacher.kind !== "endpoint") return false;
  const url = await askForEndpointUrl({ title, hasBack }, teacher.url || endpoint.url);
  draft.teacher = { ...teacher, url };
  return true;
};

const askModel: AskQuestion = async (draft, { models, endpoint }, hasBack) => {
  const { teacher } = draft;
  if (teacher.kind === "graph") return false;
  const model = await askForModel({ title, hasBack }, teacher, models, endpoint.model);
  draft.teacher = { ...teacher, model };
  return true;
};

const difficultyDescriptions: Readonly<Record<Difficulty, string>> = {
  easy: "few calls, with what the user says",
  medium: "more calls, and look-ups to read",
  hard: "many calls, look-ups with several hits, computed values, rules that decide",
};

const askPreset: AskQuestion = async (draft, _, hasBack) => {
  if (draft.teacher.kind !== "graph") return false;
  const items = [
    {
      label: "The paper's mixture",
      description: "two or three turns, 20 to 40 tools, missing tools, questions that need no tool",
      preset: "paper" as const,
      difficulty: undefined,
    },
    ...difficulties.map(difficulty => ({
      label: `Only ${difficulty} tasks`,
      description: difficultyDescriptions[difficulty],
      preset: "paper" as const,
      difficulty,
    })),
    {
      label: "A mixture for the small student",
      description: "short menus; on banking, calendar and filesystem",
      preset: "student" as const,
      difficulty: undefined,
    },
  ];
  const wasLast = ({ preset, difficulty }: (typeof items)[number]) =>
    preset === draft.preset && difficulty === draft.difficulty;
  const lastFirst = items.toSorted((a, b) => Number(wasLast(b)) - Number(wasLast(a)));
  const question = { title, hasBack, text: "Which mixture of conversations" };
  const { preset, difficulty } = await pickOne(lastFirst, question);
  Object.assign(draft, { preset, difficulty });
  return true;
};

const askCount: AskQuestion = async (draft, _, hasBack) => {
  const count = await askText(
    { title, hasBack, text: "How many tasks" },
    { value: String(draft.count), validate: createWholeNumberValidator(1, 1_000_000) },
  );
  draft.count = Number(count);
  return true;
};

const askSeed: AskQuestion = async (draft, _, hasBack) => {
  const seed = await askText(
    { title, hasBack, text: "Seed: the same seed gives the same tasks" },
    { value: String(draft.seed), validate: createWholeNumberValidator(0, 2 ** 31) },
  );
  draft.seed = Number(seed);
  return true;
};

const askFileName: AskQuestion = async (draft, { folder }, hasBack) => {
  draft.fileName = await askText(
    { title, hasBack, text: "The file's name, without .tasks.jsonl" },
    { value: suggestName(folder, draft), validate: it => validateName(folder, it) },
  );
  return true;
};

const questions: readonly AskQuestion[] = [
  askServers,
  askTeacher,
  askEndpointUrl,
  askModel,
  askPreset,
  askCount,
  askSeed,
  askFileName,
];

function suggestName(folder: Uri, { servers, difficulty, count, seed }: Draft): string {
  const more = servers.length > 3 ? `-and-${servers.length - 3}` : "";
  const serverNames = servers.length === 0 ? "all" : `${servers.slice(0, 3).join("-")}${more}`;
  const level = difficulty === undefined ? "" : `-${difficulty}`;
  return findUnusedName(folder, `${serverNames}${level}-${count}-seed-${seed}`);
}

function findUnusedName(folder: Uri, base: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (validateName(folder, name) === undefined) return name;
  }
}

function validateName(folder: Uri, name: string): string | undefined {
  if (!/^[\w-][\w. -]*$/.test(name) || name.endsWith("."))
    return "enter a name of letters, digits, dots, dashes and spaces";
  return existsSync(getFile(folder, name).fsPath) ? "a file of this name exists" : undefined;
}

const getFile = (folder: Uri, name: string) => Uri.joinPath(folder, `${name}.tasks.jsonl`);

/** The chosen teacher, without the key of an endpoint. */
export type TeacherChoice =
  | { readonly kind: "graph" }
  | { readonly kind: "endpoint"; readonly url: string; readonly model: string }
  | { readonly kind: "editor"; readonly model: string };

/** Asks for the kind of teacher. Its url and model are defaults for the next questions. */
async function pickTeacher(
  current: TeacherChoice,
  question: Question,
  models: readonly LanguageModelChat[],
  endpoint: { readonly url: string; readonly model: string },
): Promise<TeacherChoice> {
  const items = [
    {
      label: "The dependency graph",
      description: "offline; the same seed gives the same tasks",
      teacher: "graph" as const,
    },
    {
      label: "An endpoint…",
      description: "a model behind an OpenAI-compatible address",
      teacher: "endpoint" as const,
    },
    ...(models.length
      ? [
          {
            label: "A language model of the editor…",
            description: `${models.length} available`,
            teacher: "editor" as const,
          },
        ]
      : []),
  ];
  const currentFirst = items.toSorted(
    (a, b) => Number(b.teacher === current.kind) - Number(a.teacher === current.kind),
  );
  const { teacher: kind } = await pickOne(currentFirst, question);
  if (kind === current.kind) return current;
  if (kind === "graph") return { kind };
  return kind === "editor" ? { kind, model: models[0]!.id } : { kind, ...endpoint };
}

export const askForEndpointUrl = (
  question: Omit<Question, "text">,
  current: string,
): Promise<string> =>
  askText(
    { ...question, text: "The endpoint's address, to which /chat/completions is added" },
    { value: current, placeholder: "http://127.0.0.1:8000/v1", validate: validateAddress },
  );

/** Asks for the model of an endpoint or of the editor. */
export async function askForModel(
  question: Omit<Question, "text">,
  teacher: Exclude<TeacherChoice, { kind: "graph" }>,
  models: readonly LanguageModelChat[],
  defaultModel: string,
): Promise<string> {
  if (teacher.kind === "endpoint")
    return askText(
      { ...question, text: "The model, as the endpoint names it" },
      {
        value: teacher.model || defaultModel,
        validate: it => (it.trim() ? undefined : "enter the name of the model"),
      },
    );
  const items = models.map(it => ({
    label: it.name,
    description: `${it.vendor} · ${it.family}`,
    id: it.id,
  }));
  return (await pickOne(items, { ...question, text: "Which of the editor's models" })).id;
}
