/**
 * Labels of tool pairs by a chat model, twenty pairs a request, each asked once: what is in the
 * ledger is read from it. Knows neither who serves the model nor whether it is right.
 */
import { z } from "zod";
import type { ChatModel } from "../../policy/chatModel.ts";
import { PolicyFault } from "../../policy/policy.ts";
import { completeAs } from "../../policy/structured.ts";
import { listPairs, type Label, type PublishedTool } from "./labels.ts";
import { computePairKey, type LabelCache } from "./labelLedger.ts";

export interface LabelingOptions {
  readonly tools: readonly PublishedTool[];
  readonly model: ChatModel;
  readonly cache: LabelCache;
  /** Requests under way at once. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Told after each answer: pairs known of all. */
  readonly onProgress?: (known: number, all: number) => void;
}

const pairsInRequest = 20;

/** Answers that do not fit are asked for again, so often. */
const mostAnswers = 3;

/** How the question is put; another wording is another question, and is asked again. */
const question = `You label dependencies between the tools of one server. For every pair, say whether one tool's call can depend on the other's:
- explicit: a value in one tool's result is what a required argument of the other takes. Name the place in the result and the argument.
- implicit: no value flows, but one tool must have run before, because it brings about a state that the other one needs.
- none: neither.
Give the direction: "first" if the pair's first tool comes before, "second" if its second does. Two directions of one pair are two labels. Judge by what the schemas and descriptions say; two tools that merely take the same argument do not depend on each other.`;

const answer = z.object({
  labels: z.array(
    z.object({
      pair: z.int(),
      label: z.enum(["explicit", "implicit", "none"]),
      before: z.enum(["first", "second"]),
      output: z.string(),
      input: z.string(),
      confidence: z.number().min(0).max(1),
      rationale: z.string(),
    }),
  ),
});

interface PairQuestion {
  readonly pair: readonly [PublishedTool, PublishedTool];
  readonly key: string;
}

/**
 * Labels every pair of tools. What was labelled before the signal or a fault ends it is in the
 * ledger and is not asked again.
 */
export async function labelWithModel({
  tools,
  model,
  cache: ledger,
  concurrency = 4,
  signal,
  onProgress,
}: LabelingOptions): Promise<Label[]> {
  const all = listPairs(tools).map((pair): PairQuestion => ({
    pair,
    key: computePairKey(pair[0], pair[1], question, model.name),
  }));
  const open = all.filter(it => !ledger.get(it.key));
  let known = all.length - open.length;
  const batches = Array.from({ length: Math.ceil(open.length / pairsInRequest) }, (_, i) =>
    open.slice(i * pairsInRequest, (i + 1) * pairsInRequest),
  );
  const work = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      ledger.add(
        model.name,
        await requestLabels(model, batch, signal).catch((error: unknown) => {
          // whoever works beside this one asks nothing more
          batches.length = 0;
          throw error;
        }),
      );
      known += batch.length;
      onProgress?.(known, all.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, batches.length) }, work));
  return all.flatMap(it => ledger.get(it.key)!);
}

async function requestLabels(
  model: ChatModel,
  batch: readonly PairQuestion[],
  signal: AbortSignal | undefined,
): Promise<{ key: string; label: Label }[]> {
  const tools = [...new Map(batch.flatMap(it => it.pair).map(it => [it.name, it])).values()];
  const text = JSON.stringify({
    tools: tools.map(({ name, summary, inputSchema, outputSchema }) => ({
      name,
      summary,
      arguments: inputSchema,
      result: outputSchema,
    })),
    pairs: batch.map(({ pair: [first, second] }, pair) => ({
      pair,
      first: first.name,
      second: second.name,
    })),
  });
  let flaw = "";
  for (let i = 0; i < mostAnswers; i++) {
    signal?.throwIfAborted();
    const again =
      flaw === ""
        ? []
        : [
            {
              role: "user" as const,
              content: `Your answer did not fit: ${flaw}. Answer again, with every pair from 0 to ${batch.length - 1}.`,
            },
          ];
    const said = await completeAs(
      model,
      "labels",
      answer,
      {
        messages: [
          { role: "system", content: question },
          { role: "user", content: text },
          ...again,
        ],
        temperature: 0,
      },
      signal,
    );
    flaw = "flaw" in said ? said.flaw : findOmission(said.value, batch);
    if ("value" in said && flaw === "") return readLabels(said.value, batch);
  }
  throw new PolicyFault(
    `${model.name} did not label ${batch[0]!.pair.map(it => it.name).join(" and ")} and the pairs after them: ${flaw}`,
  );
}

type Answer = z.infer<typeof answer>;

/** What an answer leaves out; empty where it is whole. */
function findOmission({ labels }: Answer, batch: readonly PairQuestion[]): string {
  const missing = batch.findIndex((_, i) => !labels.some(it => it.pair === i));
  return missing < 0 ? "" : `pair ${missing} has no label`;
}

const readLabels = (
  { labels }: Answer,
  batch: readonly PairQuestion[],
): { key: string; label: Label }[] =>
  labels.flatMap(({ pair, label, before, output, input, confidence, rationale }) => {
    const asked = batch[pair];
    if (!asked) return [];
    const [a, b] = before === "first" ? asked.pair : [asked.pair[1], asked.pair[0]];
    return [
      {
        key: asked.key,
        label: {
          a: a.name,
          b: b.name,
          label,
          ...(label === "explicit" ? { via: { output, input } } : {}),
          confidence,
          rationale,
        },
      },
    ];
  });
