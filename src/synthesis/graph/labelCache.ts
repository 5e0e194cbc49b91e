/**
 * Caches the labels that a chat model has given in an append-only file, one label per line. A pair
 * is identified by a hash of both tools, the question and the model, so that a pair is asked about
 * again only if one of them changes.
 */
import { z } from "zod";
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import { readStrictLog } from "../../storage/jsonLines.ts";
import { LineWriter } from "../../storage/lineWriter.ts";
import type { Label, PublishedTool } from "./labels.ts";

export const labelFormat = "prove/label@1";

const entrySchema = z.strictObject({
  format: z.literal(labelFormat),
  /** From `computePairKey`. */
  key: z.string(),
  /** The model's name. */
  by: z.string(),
  a: z.string(),
  b: z.string(),
  label: z.enum(["explicit", "implicit", "none"]),
  via: z.strictObject({ output: z.string(), input: z.string() }).optional(),
  confidence: z.number().min(0).max(1),
  rationale: z.string().optional(),
});

type Entry = z.infer<typeof entrySchema>;

/**
 * Computes the key of a pair from both published tools, the question and the model's name. The
 * order of the tools does not matter.
 */
export function computePairKey(
  a: PublishedTool,
  b: PublishedTool,
  question: string,
  model: string,
): string {
  // the hash includes the key `cards`, so renaming it would invalidate every cache
  const cards = [a, b]
    .map(({ name, summary, inputSchema, outputSchema }) => ({
      name,
      summary,
      inputSchema,
      outputSchema,
    }))
    .sort((x, y) => (x.name < y.name ? -1 : 1));
  return computeDigest(deepFreeze(structuredClone({ cards, question, model })));
}

export class LabelCache {
  readonly file: string;
  readonly #byKey = new Map<string, Label[]>();

  /** Reads the file if it exists. Throws a `UserError` that names the first invalid line. */
  constructor(file: string) {
    this.file = file;
    const entries = readStrictLog(entrySchema, file, {
      noun: "a label",
      remedy: "delete the line: its pair is asked about again",
      // the pair of a line that was cut off is asked about again
      onTorn: () => {},
    });
    for (const it of entries) this.#remember(it);
  }

  /** The labels of a pair, or undefined if it has not been asked. */
  get(key: string): readonly Label[] | undefined {
    return this.#byKey.get(key);
  }

  /** Appends labels given by the model `by`. */
  add(by: string, labels: readonly { readonly key: string; readonly label: Label }[]): void {
    const writer = new LineWriter(this.file);
    try {
      for (const { key, label } of labels) {
        const entry: Entry = { format: labelFormat, key, by, ...label };
        writer.append(JSON.stringify(entry));
        this.#remember(entry);
      }
    } finally {
      writer.close();
    }
  }

  #remember({ key, a, b, label, via, confidence, rationale }: Entry): void {
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
