/**
 * Labels tool pairs with a chat model, twenty pairs per request. Each pair is asked once; known
 * labels are read from the cache.
 */
import { z } from "zod";
import type { ChatModel } from "../../policy/chatModel.ts";
import { PolicyFault } from "../../policy/policy.ts";
import { completeStructured } from "../../policy/structuredOutput.ts";
import { computePairKey, type LabelCache } from "./labelCache.ts";
import { listPairs, type Label, type PublishedTool } from "./labels.ts";

export interface LabelingOptions {
  readonly tools: readonly PublishedTool[];
  readonly model: ChatModel;
  readonly cache: LabelCache;
  /** Requests in parallel. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Called after each answer with the number of labelled pairs and of all pairs. */
  readonly onProgress?: (known: number, all: number) => void;
}

const pairsInRequest = 20;

/** Requests for one batch of pairs while the answers are invalid. */
const maxAnswers = 3;

/** Part of the cache key: every pair is asked again when this text changes. */
const question = `You label dependencies between the tools of one server. For every pair, say whether one tool's call can depend on the other's:
- explicit: a value in one tool's result is what a required argument of the other takes. Name the place in the result and the argument.
- implicit: no value flows, but one tool must have run before, because it brings about a state that the other one needs.
- none: neither.
Give the direction: "first" if the pair's first tool comes before, "second" if its second does. Two directions of one pair are two labels. Judge by what the schemas and descriptions say; two tools that merely take the same argument do not depend on each other.`;

const answerSchema = z.object({
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
 * Labels every pair of tools. Labels received before an abort or a fault are in the cache and are
 * not requested again.
 */
export async function labelWithModel({
  tools,
  model,
  cache,
  concurrency = 4,
  signal,
  onProgress,
}: LabelingOptions): Promise<Label[]> {
  const all = listPairs(tools).map((pair): PairQuestion => ({
    pair,
    key: computePairKey(pair[0], pair[1], question, model.name),
  }));
  const unlabelled = all.filter(it => !cache.get(it.key));
  let known = all.length - unlabelled.length;
  const batches = Array.from({ length: Math.ceil(unlabelled.length / pairsInRequest) }, (_, i) =>
    unlabelled.slice(i * pairsInRequest, (i + 1) * pairsInRequest),
  );
  const labelBatches = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      cache.add(
        model.name,
        await requestLabels(model, batch, signal).catch((error: unknown) => {
          // the parallel requests start no further batch
          batches.length = 0;
          throw error;
        }),
      );
      known += batch.length;
      onProgress?.(known, all.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, batches.length) }, labelBatches));
  return all.flatMap(it => cache.get(it.key)!);
}

async function requestLabels(
  model: ChatModel,
  batch: readonly PairQuestion[],
  signal: AbortSignal | undefined,
): Promise<{ key: string; label: Label }[]> {
  const messages = [
    { role: "system" as const, content: question },
    { role: "user" as const, content: describeBatch(batch) },
  ];
  let flaw = "";
  for (let i = 0; i < maxAnswers; i++) {
    signal?.throwIfAborted();
    const complaint =
      flaw === ""
        ? []
        : [
            {
              role: "user" as const,
              content: `Your answer did not fit: ${flaw}. Answer again, with every pair from 0 to ${batch.length - 1}.`,
            },
          ];
    const request = { messages: [...messages, ...complaint], temperature: 0 };
    const result = await completeStructured(model, "labels", answerSchema, request, signal);
    flaw = "flaw" in result ? result.flaw : findOmission(result.value, batch);
    if ("value" in result && flaw === "") return readLabels(result.value, batch);
  }
  throw new PolicyFault(
    `${model.name} did not label ${batch[0]!.pair.map(it => it.name).join(" and ")} and the pairs after them: ${flaw}`,
  );
}

/** The tools of a batch and its numbered pairs, as JSON. */
function describeBatch(batch: readonly PairQuestion[]): string {
  const tools = [...new Map(batch.flatMap(it => it.pair).map(it => [it.name, it])).values()];
  return JSON.stringify({
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
}

type Answer = z.infer<typeof answerSchema>;

/** Says which pair an answer leaves out; empty if there is none. */
function findOmission({ labels }: Answer, batch: readonly PairQuestion[]): string {
  const missing = batch.findIndex((_, i) => !labels.some(it => it.pair === i));
  return missing < 0 ? "" : `pair ${missing} has no label`;
}

const readLabels = (
  { labels }: Answer,
  batch: readonly PairQuestion[],
): { key: string; label: Label }[] =>
  labels.flatMap(({ pair, label, before, output, input, confidence, rationale }) => {
    const question = batch[pair];
    if (!question) return [];
    const [a, b] = before === "first" ? question.pair : [question.pair[1], question.pair[0]];
    return [
      {
        key: question.key,
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
