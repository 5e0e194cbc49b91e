/**
 * The ledger of labels: what a chat model once said of two tools, a line each, never changed. A
 * pair is known by a hash of both tools' cards, the words they were asked about with and the model,
 * so that nothing is asked twice and a changed tool is asked about anew.
 */
import { z } from "zod";
import { digestOf, freeze } from "../../environment/digest.ts";
import { readStrictLog } from "../../storage/jsonLines.ts";
import { LineWriter } from "../../storage/lineWriter.ts";
import type { Label, PublishedTool } from "./labels.ts";

export const labelFormat = "prove/label@1";

const record = z.strictObject({
  format: z.literal(labelFormat),
  /** Of the pair, by `pairKey`. */
  key: z.string(),
  /** Who labelled. */
  by: z.string(),
  a: z.string(),
  b: z.string(),
  label: z.enum(["explicit", "implicit", "none"]),
  via: z.strictObject({ output: z.string(), input: z.string() }).optional(),
  confidence: z.number().min(0).max(1),
  rationale: z.string().optional(),
});

type Entry = z.infer<typeof record>;

/**
 * What identifies a question: two tools as they are published, how it is put, and to whom. The
 * order of the tools does not matter.
 */
export function computePairKey(
  a: PublishedTool,
  b: PublishedTool,
  question: string,
  model: string,
): string {
  const cards = [a, b]
    .map(({ name, summary, inputSchema, outputSchema }) => ({
      name,
      summary,
      inputSchema,
      outputSchema,
    }))
    .sort((x, y) => (x.name < y.name ? -1 : 1));
  return digestOf(freeze(structuredClone({ cards, question, model })));
}

export class LabelCache {
  readonly file: string;
  readonly #byKey = new Map<string, Label[]>();

  /**
   * Reads the ledger of a file that may not be there yet. Throws a `Mistake` that names the first
   * line that does not fit.
   */
  constructor(file: string) {
    this.file = file;
    const entries = readStrictLog(record, file, {
      noun: "a label",
      remedy: "delete the line: its pair is asked about again",
      // nothing is lost: the pair of a line that was cut off is asked about again
      onTorn: () => {},
    });
    for (const it of entries) this.#take(it);
  }

  /** What was said of a pair, or undefined where it has not been asked. */
  get(key: string): readonly Label[] | undefined {
    return this.#byKey.get(key);
  }

  /** Appends what was said of pairs. */
  add(by: string, said: readonly { readonly key: string; readonly label: Label }[]): void {
    const writer = new LineWriter(this.file);
    try {
      for (const { key, label } of said) {
        const entry: Entry = { format: labelFormat, key, by, ...label };
        writer.append(JSON.stringify(entry));
        this.#take(entry);
      }
    } finally {
      writer.close();
    }
  }

  #take({ key, a, b, label, via, confidence, rationale }: Entry): void {
    const labels = this.#byKey.get(key) ?? [];
    this.#byKey.set(key, labels);
    labels.push({
      a,
      b,
      label,
      ...(via ? { via } : {}),
      confidence,
      ...(rationale === undefined ? {} : { rationale }),
    });
  }
}
