/**
 * How varied a body of texts is, by the field's usual figures, the same for every teacher:
 * distinct-n, turns said twice, and self-BLEU. Reads words only; what they mean, and whether
 * variety is good, it does not know.
 */

export interface Diversity {
  /** Texts measured in all. */
  readonly turns: number;
  /**
   * Texts that distinct-n and self-BLEU are taken over: both depend on how many there are, so that
   * files compare only at equal numbers.
   */
  readonly measured: number;
  /** Different n-grams over all n-grams, n = 1, 2, 3 (Li et al. 2016), 0 to 1. */
  readonly distinct: readonly [number, number, number];
  /** Share of all texts whose words, in order, are those of another one. */
  readonly repeated: number;
  /**
   * Mean BLEU-4 of each text against all others (Zhu et al. 2018), 0 to 1: the lower, the more
   * varied.
   */
  readonly selfBleu: number;
}

/** Texts that the figures of a large body are taken over, spread evenly. */
const most = 1000;

const longest = 4;

/**
 * A count that stands for none, so that one missing n-gram does not make a text's BLEU zero (Chen
 * and Cherry 2014, method 1).
 */
const smoothing = 0.1;

export function measureDiversity(texts: readonly string[]): Diversity {
  const all = texts.map(wordsOf);
  const keys = all.map(it => it.join(" "));
  const times = new Map<string, number>();
  for (const it of keys) times.set(it, (times.get(it) ?? 0) + 1);
  const step = Math.max(1, all.length / most);
  const words = Array.from(
    { length: Math.min(most, all.length) },
    (_, i) => all[Math.floor(i * step)]!,
  );
  return {
    turns: all.length,
    measured: words.length,
    distinct: [distinct(words, 1), distinct(words, 2), distinct(words, 3)],
    repeated: shareOf(keys.filter(it => times.get(it)! > 1).length, all.length),
    selfBleu: rounded(selfBleu(words)),
  };
}

/**
 * Lower case, letters and digits only: what is left of `It's 45.50, please!` is `it's 45.50
 * please`.
 */
const wordsOf = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’.,:/@_-][\p{L}\p{N}]+)*/gu) ?? [];

function distinct(texts: readonly (readonly string[])[], n: number): number {
  const grams = texts.flatMap(it => gramsOf(it, n));
  return shareOf(new Set(grams).size, grams.length);
}

const gramsOf = (words: readonly string[], n: number): string[] =>
  Array.from({ length: Math.max(0, words.length - n + 1) }, (_, i) =>
    words.slice(i, i + n).join(" "),
  );

/** Where an n-gram occurs most often, and how often it occurs at most in any other text. */
interface Most {
  text: number;
  times: number;
  elsewhere: number;
}

function selfBleu(texts: readonly (readonly string[])[]): number {
  if (texts.length < 2) return 0;
  const counts = texts.map(words =>
    Array.from({ length: longest }, (_, n) => counted(gramsOf(words, n + 1))),
  );
  const peaks = new Map<string, Most>();
  for (const [text, byLength] of counts.entries())
    for (const it of byLength) for (const [gram, times] of it) noteMost(peaks, gram, text, times);
  const lengths = texts.map(it => it.length).sort((a, b) => a - b);
  let sum = 0;
  for (const [text, byLength] of counts.entries()) {
    const own = texts[text]!.length;
    if (own === 0) continue;
    const orders = byLength.slice(0, Math.min(longest, own));
    const logs = orders.map(it =>
      Math.log(Math.max(clipped(it, text, peaks), smoothing) / total(it)),
    );
    sum +=
      Math.min(1, Math.exp(1 - closest(lengths, own) / own)) *
      Math.exp(logs.reduce((a, b) => a + b, 0) / orders.length);
  }
  return sum / texts.length;
}

function counted(grams: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const it of grams) counts.set(it, (counts.get(it) ?? 0) + 1);
  return counts;
}

function noteMost(peaks: Map<string, Most>, gram: string, text: number, times: number): void {
  const most = peaks.get(gram);
  if (!most) peaks.set(gram, { text, times, elsewhere: 0 });
  else if (times > most.times) peaks.set(gram, { text, times, elsewhere: most.times });
  else most.elsewhere = Math.max(most.elsewhere, times);
}

/** N-grams of a text that some other one has too, each as often as that one at most. */
function clipped(
  counts: ReadonlyMap<string, number>,
  text: number,
  peaks: ReadonlyMap<string, Most>,
): number {
  let n = 0;
  for (const [gram, times] of counts) {
    const most = peaks.get(gram)!;
    n += Math.min(times, most.text === text ? most.elsewhere : most.times);
  }
  return n;
}

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((a, b) => a + b, 0);

/**
 * The length nearest to a text's own among the others, the shorter where two are as near: BLEU's
 * effective reference length.
 */
function closest(lengths: readonly number[], own: number): number {
  let skipped = false;
  let best = Infinity;
  for (const it of lengths) {
    if (it === own && !skipped) skipped = true;
    else if (Math.abs(it - own) < Math.abs(best - own)) best = it;
  }
  return best;
}

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : rounded(part / whole));

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
