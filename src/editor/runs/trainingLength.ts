/** Asks how long to train. */
import { isDeepStrictEqual } from "node:util";
import { formatCount } from "../shared/text.ts";
import {
  askText,
  createWholeNumberValidator,
  pickOne,
  type Question,
} from "../shared/quickInput.ts";
import { moveToFront } from "./studentChoices.ts";

export type TrainingLength = { readonly seconds: number } | { readonly steps: number };

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

export const defaultLength: TrainingLength = lengths[0]!.length;

const findLength = (length: TrainingLength | undefined) =>
  lengths.find(it => isDeepStrictEqual(it.length, length));

export const formatLength = (length: TrainingLength): string =>
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
