/**
 * Asks for the options of a training. The first choice is a short training or the last one again,
 * after making tasks where there are too few; the last one asks for each option, with the last
 * answers first.
 */
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { CancellationError, type Memento, type QuickPickItem, type Uri } from "vscode";
import type { FitResult } from "../../protocol/work.ts";
import { defaultProfile } from "../../reward/profiles.ts";
import type { GrpoSettings, RunConfig } from "../../run/config.ts";
import { listMisfitReasons, readStartModel, type StartModel } from "../../run/startModel.ts";
import { getBackendsFolder, listInstalledBackends } from "../../run/backends.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import {
  askInSequence,
  askText,
  createWholeNumberValidator,
  pickOne,
  type Question,
} from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import { formatCount, formatList } from "../shared/text.ts";
import { studentTasks } from "../synthesis/synthesisPrompts.ts";
import { pickTasksFile } from "../tasks/taskPrompts.ts";
import {
  describeShortage,
  type FitCount,
  type FittingFile,
  formatCounts,
  hasTooFew,
} from "./fittingFiles.ts";
import {
  chooseFolder,
  moveToFront,
  pickStudentOrFolder,
  type StudentChoice,
} from "./studentChoices.ts";

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
  readonly listFitting: (student: StartModel) => Promise<readonly FittingFile[]>;
  /** How to get tasks where there are none; the first one makes tasks that fit a student. */
  readonly sources: readonly TasksSource[];
  readonly students: readonly StudentChoice[];
  readonly checkFit: (tasks: Uri, student: StartModel) => Promise<FitResult>;
  readonly workspaceState: Memento;
  /** Other ways to train, which the first question offers, too. */
  readonly others: readonly OtherTraining[];
}

/** A way to train that asks other questions. */
export interface OtherTraining {
  readonly label: string;
  readonly description: string;
  /** Asks for its options, and starts it. */
  readonly start: () => Promise<void>;
}

/** A way to get a first tasks file. */
export interface TasksSource {
  readonly label: string;
  readonly description: string;
  /** `student`: the one that the tasks should fit, if it is known. */
  readonly create: (student?: StartModel) => Promise<Uri>;
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
  /** Whether it was said that there are too few tasks. */
  isWarned: boolean;
  /** Whether the folder of a model was chosen in place of a student. */
  hasFolder: boolean;
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
 * Asks the questions. Throws a `CancellationError` on Escape and after another way to train was
 * chosen, and an `ActionableError` if no task fits the student.
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
  isWarned: false,
  hasFolder: false,
  onlyFitting: false,
  preset: presets.find(it => it.label === stored.preset) ?? presets[0]!,
  length: stored.length ?? defaultLength,
  backend: backends.find(it => it.label === stored.backend) ?? backends[0]!,
});

/** A training without further questions, the way to what is asked, or another way to train. */
interface KindChoice extends QuickPickItem {
  /** The tasks to train on; absent if they are asked for. */
  readonly findTasks?: (() => Promise<Uri>) | undefined;
  /** Asks for the model first. */
  readonly chooseStudent?: () => Promise<StudentChoice>;
  readonly start?: () => Promise<void>;
}

/** Offers a training without further questions, which makes tasks first if there are too few. */
const askKind: AskQuestion = async (draft, context, hasBack) => {
  const { title, students, stored } = context;
  const student = students.find(it => it.label === stored.student) ?? students[0];
  if (!student) return false;
  const { preset, length } = createDraft(stored);
  const settings = `${preset.label} · ${formatLength(length)}`;
  const existing = await findDefaultTasks(student, context);
  const isFew = !existing || hasTooFew(existing);
  const making = createMakingItem(student, context, settings);
  const training = existing && {
    label: existing.label,
    // the same seed gives the same values
    description: `${student.label} on ${existing.place} · ${settings}${existing.isLast ? " · same seed" : ""}`,
    iconPath: icons.metrics,
    findTasks: () => Promise.resolve(existing.file),
  };
  const choosing = {
    label: "Choose the settings…",
    iconPath: icons.settings,
    description: "tasks, student, objective, length and backend",
    findTasks: undefined,
  };
  const choosingFolder = {
    label: "A Hugging Face folder…",
    iconPath: icons.folder,
    description: "a model of your own in place of the student, on this machine",
    findTasks: undefined,
    chooseStudent: chooseFolder,
  };
  const others = context.others.map(it => ({ ...it, iconPath: icons.otherTraining }));
  // a file that was asked for comes first
  const first = context.tasks ? [training, isFew && making] : [isFew && making, training];
  const text =
    existing && isFew
      ? `${existing.place}: ${describeShortage(existing)}`
      : "What to train; the student is the model that learns";
  const items: readonly KindChoice[] = [
    ...first.filter(it => !!it),
    choosing,
    choosingFolder,
    ...others,
  ];
  const chosen = await pickOne(items, { title, hasBack, text });
  if (chosen.start) {
    await chosen.start();
    throw new CancellationError();
  }
  draft.hasFolder = chosen.chooseStudent !== undefined;
  if (chosen.chooseStudent) draft.student = await chosen.chooseStudent();
  const { findTasks } = chosen;
  draft.isKnown = findTasks !== undefined;
  if (!findTasks) return true;
  const tasks = await findTasks();
  Object.assign(draft, createDraft(stored), { tasks, student, isKnown: true, isWarned: isFew });
  return true;
};

/** The choice to synthesize tasks for a student before it is trained on them. */
const createMakingItem = (
  student: StudentChoice,
  { sources }: TrainingPromptContext,
  settings: string,
) => ({
  label: `Make ${formatCount(studentTasks.count, "task")}, then train`,
  description: `${student.label} on new tasks, a fifth held out · ${settings}`,
  iconPath: icons.taskFile,
  findTasks: () => sources[0]!.create(readStartModel(student.folder)),
});

interface DefaultTasks extends FittingFile {
  readonly label: string;
  /** Whether the last training was on them. */
  readonly isLast: boolean;
  /** The name of the file, and what it has for the student. */
  readonly place: string;
}

/**
 * The tasks of a training without questions: given ones, those of the last training, or the newest
 * that fit, preferably enough.
 */
async function findDefaultTasks(
  student: StudentChoice,
  context: AskContext,
): Promise<DefaultTasks | undefined> {
  const { files, stored } = context;
  const fitting = await context.listFitting(readStartModel(student.folder));
  const known = context.tasks ?? files.find(it => it.fsPath === stored.tasks);
  const chosen = known
    ? (fitting.find(it => it.file.fsPath === known.fsPath) ?? { file: known, train: 0, heldOut: 0 })
    : (fitting.find(it => !hasTooFew(it)) ?? fitting[0]);
  if (!chosen) return undefined;
  const { file, train } = chosen;
  const count = train === 0 ? "no task to train on" : formatCounts(chosen);
  const isLast = file.fsPath === stored.tasks;
  const first = stored.student === undefined ? "A first training" : "With the last settings";
  return {
    ...chosen,
    isLast,
    label: isLast ? "The last training again" : first,
    place: `${basename(file.fsPath, ".tasks.jsonl")}, ${count}`,
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
  if (draft.hasFolder) return false;
  const question = { title, hasBack, text: "Which student, the model that learns, to train" };
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

const askFit: AskQuestion = async (draft, context, hasBack) => {
  const { title, checkFit } = context;
  const [tasks, student] = [draft.tasks!, readStartModel(draft.student!.folder)];
  const { train, heldOut } = await checkFit(tasks, student);
  const file = basename(tasks.fsPath);
  const fitting = { train: train.fitting, heldOut: heldOut.fitting };
  // the servers of the tasks fit, but many tasks are too long
  if (draft.isKnown && !draft.isWarned && hasTooFew(fitting)) {
    draft.isWarned = true;
    if (await askToMake(draft, context, { fitting, hasBack })) {
      await askFit(draft, context, hasBack);
      return true;
    }
  }
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

/** Asks whether to make tasks in place of those of the draft, of which too few fit. */
async function askToMake(
  draft: Draft,
  context: AskContext,
  { fitting, hasBack }: { readonly fitting: FitCount; readonly hasBack: boolean },
): Promise<boolean> {
  const { preset, length } = draft;
  const settings = `${preset.label} · ${formatLength(length)}`;
  const making = createMakingItem(draft.student!, context, settings);
  const going = {
    label: `Train on ${basename(draft.tasks!.fsPath, ".tasks.jsonl")}`,
    description: `${formatCounts(fitting)} · ${settings}`,
    iconPath: icons.metrics,
    findTasks: undefined,
  };
  const items = fitting.train > 0 ? [making, going] : [making];
  const text = `${formatCounts(fitting)}: ${describeShortage(fitting)}`;
  const { findTasks } = await pickOne(items, { title: context.title, hasBack, text });
  if (findTasks) draft.tasks = await findTasks();
  return findTasks !== undefined;
}

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

type TrainingLength = { readonly seconds: number } | { readonly steps: number };

/** On two cores, the first one takes about half a minute. */
const lengths: readonly {
  readonly label: string;
  readonly description?: string;
  readonly length: TrainingLength;
}[] = [
  { label: "12 steps", description: "enough to see success rise", length: { steps: 12 } },
  { label: "2 minutes", length: { seconds: 120 } },
  { label: "4 minutes", length: { seconds: 240 } },
  { label: "10 minutes", length: { seconds: 600 } },
  { label: "1 hour", length: { seconds: 3600 } },
];

const defaultLength: TrainingLength = lengths[0]!.length;

const findLength = (length: TrainingLength | undefined) =>
  lengths.find(it => isDeepStrictEqual(it.length, length));

const formatLength = (length: TrainingLength): string =>
  findLength(length)?.label ??
  ("steps" in length ? formatCount(length.steps, "step") : `${length.seconds} seconds`);

/** The chosen length; the first choice is the last answer if there is one. */
export async function askTrainingLength(
  question: Question & { readonly title: string },
  lastAnswer?: TrainingLength,
): Promise<TrainingLength> {
  const last = findLength(lastAnswer);
  const items = moveToFront(lengths, it => it === last);
  const steps = { label: "A number of steps…", length: undefined };
  const wasOther = lastAnswer !== undefined && !last;
  const { length } = await pickOne(wasOther ? [steps, ...items] : [...items, steps], question);
  return length ?? (await askSteps(question.title, lastAnswer));
}

async function askSteps(title: string, last: TrainingLength | undefined): Promise<TrainingLength> {
  const steps = await askText(
    { title, text: "How many steps" },
    {
      value: last && "steps" in last ? String(last.steps) : "100",
      validate: createWholeNumberValidator(1, 100_000),
    },
  );
  return { steps: Number(steps) };
}
