/**
 * Reads an attempt as a model does, for a person: the text that is appended, and the tokens of its
 * messages with their log-probabilities. Those that were not recorded are computed by the model.
 */
import { startBackend } from "../compute/backend.ts";
import type { ChatFormat, EncodedChat } from "../model/chatFormat.ts";
import { loadModel, readModelFolder, type StoredModel } from "../model/modelFolder.ts";
import { listParameters } from "../model/transformer/architecture.ts";
import { packGroups } from "../model/transformer/packedBatch.ts";
import { computeLogProbabilities } from "../model/transformer/transformer.ts";
import type { ModelReading, ReadingPart, ReadingWork, ReadToken } from "../protocol/work.ts";
import { getBackendsFolder } from "../run/backends.ts";
import { createConversation } from "../train/sft/corpus.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";

/** A larger model takes more time and memory than a look at an attempt is worth. */
const maxParameters = 200_000_000;

/**
 * Throws a `UserError` if the folder has no tokenizer or template that can be used, or the recorded
 * tokens are not those of its tokenizer.
 */
export async function readAsModel(
  { task, trajectory, model, isOwn, fixtures }: ReadingWork,
  context: Pick<AppContext, "catalog" | "dist">,
): Promise<ModelReading> {
  const catalog = context.catalog.reopen(fixtures);
  const stored = readModelFolder(model);
  const { chat, config } = stored;
  if (isOwn) checkTokens(trajectory, config.architecture.vocabulary, model);
  const read = isOwn ? trajectory : withoutTokens(trajectory);
  const encoded = chat.encode(createConversation(catalog, task, read));
  const own = encoded.message.some(it => it >= 0);
  const note = own ? explainMissing(read, stored, encoded) : undefined;
  const computed =
    own && note === undefined && !hasLogprobs(read)
      ? await computeAll(stored, encoded, context)
      : undefined;
  return {
    name: config.name,
    kind: stored.kind,
    context: Math.min(chat.limits.context, config.architecture.context),
    parts: listParts(read, encoded, chat, computed),
    ...(note === undefined ? {} : { note }),
  };
}

function checkTokens({ events }: Trajectory, vocabulary: number, model: string): void {
  const tokens = events.flatMap(it => (it.kind === "assistant" ? (it.tokens ?? []) : []));
  const other = tokens.find(it => it < 0 || it >= vocabulary);
  if (other !== undefined)
    throw new UserError(
      `the attempt has the token ${other}, and the model in ${model} has ${vocabulary} tokens`,
      "choose the model that made it",
    );
}

const withoutTokens = ({ header, events }: Trajectory): Trajectory => ({
  header,
  events: events.map(it =>
    it.kind === "assistant" ? { kind: it.kind, message: it.message, text: it.text } : it,
  ),
});

/** Whether each message has the log-probabilities of its tokens. */
const hasLogprobs = ({ events }: Trajectory): boolean =>
  events.every(it => it.kind !== "assistant" || it.logprobs !== undefined);

/** Why log-probabilities that are missing are not computed. */
function explainMissing(
  trajectory: Trajectory,
  { config: { architecture }, chat }: StoredModel,
  { ids }: EncodedChat,
): string | undefined {
  if (hasLogprobs(trajectory)) return undefined;
  const parameters = listParameters(architecture).reduce(
    (sum, { shape }) => sum + shape.reduce((product, it) => product * it, 1),
    0,
  );
  const context = Math.min(chat.limits.context, architecture.context);
  if (ids.length > context)
    return `log-probabilities are not computed, because the conversation has ${ids.length} tokens, and the model reads ${context}`;
  return parameters > maxParameters
    ? `log-probabilities are not computed, because the model has more than ${maxParameters / 1e6} million weights`
    : undefined;
}

/** The log-probability of each token of the policy's messages, 0 for the others. */
async function computeAll(
  stored: StoredModel,
  { ids, mask }: EncodedChat,
  { dist }: Pick<AppContext, "dist">,
): Promise<readonly number[]> {
  await startBackend("auto", {
    programs: dist,
    backends: getBackendsFolder(),
    sizes: stored.config.architecture,
  });
  const model = await loadModel(stored);
  try {
    const packed = packGroups([{ prefix: [], branches: [{ ids, mask }] }]);
    const logprobs = await computeLogProbabilities(model, packed);
    let next = 0;
    return mask.map(it => (it === 1 ? logprobs[next++]! : 0));
  } finally {
    model.dispose();
  }
}

function listParts(
  { events }: Trajectory,
  { ids, message, logprobs }: EncodedChat,
  chat: ChatFormat,
  computed: readonly number[] | undefined,
): readonly ReadingPart[] {
  const parts: ReadingPart[] = [];
  for (let start = 0; start < ids.length;) {
    const number = message[start]!;
    let end = start;
    while (end < ids.length && message[end] === number) end++;
    if (number < 0)
      parts.push({
        kind: "given",
        text: chat.decode(ids.slice(start, end)),
        tokens: end - start,
      });
    else {
      const event = events.find(it => it.kind === "assistant" && it.message === number);
      const recorded = event?.kind === "assistant" ? event : undefined;
      const values = recorded?.logprobs ? logprobs : computed;
      const from = recorded?.logprobs ? "recorded" : computed ? "computed" : undefined;
      parts.push({
        kind: "message",
        message: number,
        isRecorded: recorded?.tokens !== undefined,
        ...(from ? { logprobs: from } : {}),
        tokens: ids.slice(start, end).map((id, i): ReadToken => ({
          id,
          text: formatBytes(chat.readToken(id)),
          ...(values ? { logprob: values[start + i]! } : {}),
        })),
      });
    }
    start = end;
  }
  return parts;
}

/** The text of a token. Bytes that are a part of a character are shown as numbers. */
function formatBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return [...bytes]
      .map(it => (it < 0x80 ? String.fromCodePoint(it) : `<0x${it.toString(16).toUpperCase()}>`))
      .join("");
  }
}
