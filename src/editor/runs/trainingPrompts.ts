/**
 * Asks for the options of a training. The first choice is a short training or the last one again;
 * the other asks for each option, with the last answers first.
 */
import { basename } from "node:path";
import type { Memento, Uri } from "vscode";
import type { FitResult } from "../../protocol/work.ts";
import { defaultProfile } from "../../reward/profiles.ts";
import type { GrpoSettings, RunConfig } from "../../run/config.ts";
import { listMisfitReasons } from "../../run/fitCounts.ts";
import { getBackendsFolder, listInstalledBackends } from "../../run/nativeBackends.ts";
import { readStartModel, type StartModel } from "../../run/startModel.ts";
import { UserError } from "../../userError.ts";
import { formatCount, formatList } from "../shared/count.ts";
import { icons } from "../shared/icons.ts";
import { askInSequence, pickOne } from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import { pickTasksFile } from "../tasks/pickTasksFile.ts";
import { pickStudentOrFolder } from "./pickStudent.ts";
import { moveToFront, type StudentChoice } from "./studentChoices.ts";
import {
  askTrainingLength,
  defaultLength,
  formatLength,
  type TrainingLength,
} from "./trainingLength.ts";

/** What to train, and for how long. */
export interface TrainingChoices {
  readonly tasks: Uri;
  readonly student: StartModel;
  readonly onlyFitting: boolean;
  readonly objective: GrpoSettings["objective"];
  readonly profile: string;
  readonly length: TrainingLength;
  readonly backend: RunConfig["backend"];
  /** The rank of the adapters that are trained; absent for all weights. */
  readonly rank?: number;
}

export interface TrainingPromptContext {
  /** What the answers are for. */
  readonly title: string;
  /** The tasks file, if the command was run on one. */
  readonly tasks: Uri | undefined;
  readonly listFiles: () => Promise<readonly Uri[]>;
  /** The files with tasks on servers that a student knows, the newest first. */
  readonly listFitting: (student: StartModel) => Promise<readonly Uri[]>;
  /** How to get tasks where there are none; the first one makes tasks that fit the students. */
  readonly sources: readonly TasksSource[];
  readonly students: readonly StudentChoice[];
  readonly checkFit: (tasks: Uri, student: StartModel) => Promise<FitResult>;
  readonly workspaceState: Memento;
}

/** A way to get a first tasks file. */
export interface TasksSource {
  readonly label: string;
  readonly description: string;
  readonly create: () => Promise<Uri>;
}

/** The answers, as they are stored for the next time. */
interface StoredAnswers {
  readonly tasks?: string;
  readonly student?: string;
  readonly preset?: string;
  readonly length?: TrainingLength;
  readonly backend?: string;
}

interface Draft {
  /** Whether only what depends on the tasks is asked. */
  isKnown: boolean;
  tasks?: Uri;
  student?: StudentChoice;
  rank?: number | undefined;
  onlyFitting: boolean;
  preset: Preset;
  length: TrainingLength;
  backend: BackendChoice;
}

interface AskContext extends TrainingPromptContext {
  readonly files: readonly Uri[];
  readonly stored: StoredAnswers;
}

/** A question sets a field of the draft. It resolves to `false` if it does not apply. */
type AskQuestion = (draft: Draft, context: AskContext, hasBack: boolean) => Promise<boolean>;

const storedKey = "prove.training.last";

/**
 * Asks the questions. Throws a `CancellationError` on Escape, and an `ActionableError` if no task
 * fits the student.
 */
export async function promptForTraining(context: TrainingPromptContext): Promise<TrainingChoices> {
  const stored = context.workspaceState.get<StoredAnswers>(storedKey) ?? {};
  const files = await context.listFiles();
  const draft = createDraft(stored);
  const unlessKnown =
    (ask: AskQuestion): AskQuestion =>
    async (...args) =>
      !draft.isKnown && ask(...args);
  const questions = [
    askKind,
    ...[askTasks, askStudent].map(unlessKnown),
    askFit,
    askAdapters,
    ...[askPreset, askLength, askBackend].map(unlessKnown),
  ];
  await askInSequence(
    questions.map(ask => (hasBack: boolean) => ask(draft, { ...context, files, stored }, hasBack)),
  );
  const { onlyFitting, rank, preset, length, backend } = draft;
  const [tasks, student] = [draft.tasks!, draft.student!];
  await context.workspaceState.update(storedKey, {
    tasks: tasks.fsPath,
    student: student.label,
    preset: preset.label,
    length,
    backend: backend.label,
  } satisfies StoredAnswers);
  const { objective, profile } = preset;
  return {
    tasks,
    student: readStartModel(student.folder),
    onlyFitting,
    objective,
    profile,
    length,
    backend: backend.backend,
    ...(rank === undefined ? {} : { rank }),
  };
}

const createDraft = (stored: StoredAnswers): Draft => ({
  isKnown: false,
  onlyFitting: false,
  preset: presets.find(it => it.label === stored.preset) ?? presets[0]!,
  length: stored.length ?? defaultLength,
  backend: backends.find(it => it.label === stored.backend) ?? backends[0]!,
});

/** Offers a training without further questions. In a folder without tasks, these come first. */
const askKind: AskQuestion = async (draft, context, hasBack) => {
  const { title, files, students, stored } = context;
  const student = students.find(it => it.label === stored.student) ?? students[0];
  if (!student || (files.length === 0 && !context.tasks)) return false;
  const { label, place, findTasks } = await chooseDefaultTasks(student, context);
  const { preset, length } = createDraft(stored);
  const items = [
    {
      label,
      description: `${student.label} on ${place} · ${preset.label} · ${formatLength(length)}`,
      iconPath: icons.metrics,
      isKnown: true,
    },
    {
      label: "Choose the settings…",
      description: "tasks, student, objective, length and backend",
      isKnown: false,
    },
  ];
  draft.isKnown = (await pickOne(items, { title, hasBack, text: "What to train" })).isKnown;
  if (draft.isKnown)
    Object.assign(draft, createDraft(stored), { tasks: await findTasks(), student, isKnown: true });
  return true;
};

/** The tasks of the first choice: given ones, those of the last training, or the newest that fit. */
async function chooseDefaultTasks(student: StudentChoice, context: AskContext) {
  const { files, stored, sources } = context;
  const label = stored.student === undefined ? "A first training" : "With the last settings";
  const name = (it: Uri) => basename(it.fsPath, ".tasks.jsonl");
  const known = context.tasks ?? files.find(it => it.fsPath === stored.tasks);
  if (known)
    return {
      label: known.fsPath === stored.tasks ? "The last training again" : label,
      place: name(known),
      findTasks: () => Promise.resolve(known),
    };
  const fitting = await context.listFitting(readStartModel(student.folder));
  const [newest] = fitting;
  if (!newest) return { label, place: "new tasks that fit it", findTasks: sources[0]!.create };
  const reason = fitting.length > 1 ? "the newest file that fits" : "the only file that fits";
  return {
    label,
    place: files.length > 1 ? `${name(newest)}, ${reason}` : name(newest),
    findTasks: () => Promise.resolve(newest),
  };
}

const askTasks: AskQuestion = async (draft, context, hasBack) => {
  if (context.tasks) {
    draft.tasks = context.tasks;
    return false;
  }
  const question = { title: context.title, hasBack, text: "Which tasks to train on" };
  const { files } = context;
  if (files.length === 0) {
    const items = context.sources.map(it => ({ ...it, iconPath: icons.taskFile }));
    draft.tasks = await (await pickOne(items, question)).create();
    return true;
  }
  draft.tasks = await pickTasksFile(files, question, context.stored.tasks);
  return true;
};

const askStudent: AskQuestion = async (draft, { title, students, stored }, hasBack) => {
  const question = { title, hasBack, text: "Which student to train" };
  draft.student = await pickStudentOrFolder(students, question, stored.student);
  return true;
};

/** Asks whether to train adapters of a Hugging Face model or all its weights, unless it has some. */
const askAdapters: AskQuestion = async (draft, { title }, hasBack) => {
  draft.rank = undefined;
  const { kind, adapters } = readStartModel(draft.student!.folder);
  if (kind === "student" || adapters) return false;
  const items = [
    { label: "LoRA adapters of rank 8", description: "takes the least memory", rank: 8 },
    { label: "LoRA adapters of rank 32", description: "can learn more", rank: 32 },
    {
      label: "All weights",
      description: "takes four times the memory of the model",
      rank: undefined,
    },
  ];
  draft.rank = (
    await pickOne(items, { title, hasBack, text: "Which part of the model to train" })
  ).rank;
  return true;
};

const askFit: AskQuestion = async (draft, { title, checkFit }, hasBack) => {
  const [tasks, student] = [draft.tasks!, readStartModel(draft.student!.folder)];
  const { train } = await checkFit(tasks, student);
  const file = basename(tasks.fsPath);
  if (train.total === 0)
    throw new UserError(
      `${file} has no tasks to train on`,
      "choose another file: the tasks of this one are held out for evaluation",
    );
  if (train.fitting === 0)
    throw new ActionableError(
      `none of the ${formatCount(train.total, "task")} in ${file} fits ${draft.student!.label}, which knows ${formatList(student.servers)}`,
      "synthesize tasks for the student, or choose another file",
      { title: "Synthesize Tasks…", command: "prove.synthesizeTasks" },
    );
  draft.onlyFitting = train.fitting < train.total;
  // the first choice trains on those that fit, without a question
  if (!draft.onlyFitting || draft.isKnown) return false;
  const items = [
    {
      label: `Train on the ${formatCount(train.fitting, "task")} that fit`,
      description: `without ${formatList(listMisfitReasons(train))}`,
      onlyFitting: true,
    },
    {
      label: `Train on all ${formatCount(train.total, "task")}`,
      description: "attempts at the others hardly ever succeed",
      onlyFitting: false,
    },
  ];
  const text = `${train.fitting.toLocaleString("en")} of ${formatCount(train.total, "task")} fit ${draft.student!.label}`;
  draft.onlyFitting = (await pickOne(items, { title, hasBack, text })).onlyFitting;
  return true;
};

interface Preset {
  readonly label: string;
  readonly description: string;
  readonly objective: GrpoSettings["objective"];
  readonly profile: string;
}

const presets: readonly Preset[] = [
  {
    label: "GRPO",
    description: `the paper's objective · reward ${defaultProfile.name}: the paper's five parts and success`,
    objective: "prove",
    profile: defaultProfile.name,
  },
  {
    label: "GRPO, the paper's reward",
    description: "the paper's objective · reward paper: five parts",
    objective: "prove",
    profile: "paper",
  },
  {
    label: "DAPO",
    description: `resamples groups without a gradient, no KL term · reward ${defaultProfile.name}`,
    objective: "dapo",
    profile: defaultProfile.name,
  },
  {
    label: "Dr. GRPO",
    description: `advantages that are not scaled, no KL term · reward ${defaultProfile.name}`,
    objective: "dr-grpo",
    profile: defaultProfile.name,
  },
  {
    label: "GSPO",
    description: `one importance ratio per attempt, no KL term · reward ${defaultProfile.name}`,
    objective: "gspo",
    profile: defaultProfile.name,
  },
];

const askPreset: AskQuestion = async (draft, { title, stored }, hasBack) => {
  const items = moveToFront(presets, it => it.label === stored.preset);
  draft.preset = await pickOne(items, { title, hasBack, text: "Which objective and reward" });
  return true;
};

const askLength: AskQuestion = async (draft, { title, stored }, hasBack) => {
  const text = "How long; training can be stopped and resumed at any time";
  draft.length = await askTrainingLength({ title, hasBack, text }, stored.length);
  return true;
};

interface BackendChoice {
  readonly label: string;
  readonly description: string;
  readonly backend: RunConfig["backend"];
}

/** The backends that come with the extension. */
const backends: readonly BackendChoice[] = [
  { label: "Automatic", description: "the fastest that works here", backend: "auto" },
  {
    label: "WebAssembly",
    description: "fails if it does not work here, instead of being slow",
    backend: "wasm",
  },
  {
    label: "JavaScript",
    description: "about 200 times slower, to compare results with",
    backend: "cpu",
  },
];

const askBackend: AskQuestion = async (draft, { title, stored }, hasBack) => {
  const installed = listInstalledBackends(getBackendsFolder()).map(backend => ({
    label: backend === "webgpu" ? "WebGPU" : "TensorFlow",
    description: "installed; used also if it finds no graphics card",
    backend,
  }));
  const items = moveToFront([...backends, ...installed], it => it.label === stored.backend);
  draft.backend = await pickOne(items, { title, hasBack, text: "Which backend computes" });
  return true;
};
