/** Computes how easily two tools are confused: by their names, summaries and arguments. */
import type { ToolDeclaration } from "../graph/declarations.ts";

/** What each property counts for; the sum is 1. */
const weights = { verb: 0.2, object: 0.4, summary: 0.2, arguments: 0.2 };

interface ToolWords {
  /** The first word of the name, as in `list`. */
  readonly verb: string;
  /** The other words of the name, in the singular. */
  readonly object: ReadonlySet<string>;
  readonly summary: ReadonlySet<string>;
  readonly arguments: ReadonlySet<string>;
}

const wordsByTool = new WeakMap<ToolDeclaration, ToolWords>();

/** From 0 for tools with nothing in common to 1. */
export function computeSimilarity(a: ToolDeclaration, b: ToolDeclaration): number {
  const [own, other] = [getWords(a), getWords(b)];
  return (
    (own.verb === other.verb ? weights.verb : 0) +
    weights.object * computeOverlap(own.object, other.object) +
    weights.summary * computeOverlap(own.summary, other.summary) +
    weights.arguments * computeOverlap(own.arguments, other.arguments)
  );
}

function getWords(declaration: ToolDeclaration): ToolWords {
  let words = wordsByTool.get(declaration);
  if (!words) wordsByTool.set(declaration, (words = splitWords(declaration)));
  return words;
}

function splitWords({ tool, inputs, labels, values }: ToolDeclaration): ToolWords {
  const [verb = "", ...object] = tool.name.slice(tool.server.length + 1).split("_");
  return {
    verb,
    object: new Set(object.map(makeSingular)),
    summary: new Set(
      tool.summary
        .toLowerCase()
        .match(/\p{L}{4,}/gu)
        ?.map(makeSingular),
    ),
    arguments: new Set([...inputs, ...labels, ...values].map(it => it.key)),
  };
}

const makeSingular = (word: string): string => word.replace(/s$/, "");

/** The Jaccard similarity of two sets; 0 if both are empty. */
function computeOverlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const it of a) if (b.has(it)) shared++;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}
