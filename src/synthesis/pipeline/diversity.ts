/**
 * Measures the diversity of texts with the usual metrics: distinct-n, the share of repeated texts,
 * and self-BLEU. It compares words only, not their meaning.
 */

export interface Diversity {
  /** The number of texts. */
  readonly turns: number;
  /**
   * The number of texts used for distinct-n and self-BLEU. Both depend on it, so values are
   * comparable only between equal numbers.
   */
  readonly measured: number;
  /** Different n-grams over all n-grams, n = 1, 2, 3 (Li et al. 2016), 0 to 1. */
  readonly distinct: readonly [number, number, number];
  /** Share of all texts that have the same words in the same order as another text. */
  readonly repeated: number;
  /**
   * Mean BLEU-4 of each text against all others (Zhu et al. 2018), 0 to 1: the lower, the more
   * varied.
   */
  readonly selfBleu: number;
}

/** The most texts used for distinct-n and self-BLEU, spread evenly over all texts. */
const maxMeasured = 1000;

/** BLEU uses n-grams of 1 to this many words. */
const maxOrder = 4;

/**
 * The count used in place of zero, so that one missing n-gram does not make a text's BLEU zero
 * (Chen and Cherry 2014, method 1).
 */
const smoothing = 0.1;

export function measureDiversity(texts: readonly string[]): Diversity {
  const tokenized = texts.map(splitIntoWords);
  const keys = tokenized.map(it => it.join(" "));
  const keyCounts = countEach(keys);
  const step = Math.max(1, tokenized.length / maxMeasured);
  const measured = Array.from(
    { length: Math.min(maxMeasured, tokenized.length) },
    (_, i) => tokenized[Math.floor(i * step)]!,
  );
  const repeatedCount = keys.filter(it => keyCounts.get(it)! > 1).length;
  return {
    turns: tokenized.length,
    measured: measured.length,
    distinct: [
      computeDistinct(measured, 1),
      computeDistinct(measured, 2),
      computeDistinct(measured, 3),
    ],
    repeated: computeShare(repeatedCount, tokenized.length),
    selfBleu: roundToFourDigits(computeSelfBleu(measured)),
  };
}

/**
 * Splits a text into its words in lower case, without punctuation: `It's 45.50, please!` becomes
 * `it's`, `45.50`, `please`.
 */
const splitIntoWords = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’.,:/@_-][\p{L}\p{N}]+)*/gu) ?? [];

function computeDistinct(texts: readonly (readonly string[])[], n: number): number {
  const ngrams = texts.flatMap(it => listNgrams(it, n));
  return computeShare(new Set(ngrams).size, ngrams.length);
}

const listNgrams = (words: readonly string[], n: number): string[] =>
  Array.from({ length: Math.max(0, words.length - n + 1) }, (_, i) =>
    words.slice(i, i + n).join(" "),
  );

/** The text with the highest count of an n-gram, and the highest count in any other text. */
interface Peak {
  text: number;
  count: number;
  countElsewhere: number;
}

/** Computes the mean BLEU of each text with all others as its references. */
function computeSelfBleu(texts: readonly (readonly string[])[]): number {
  if (texts.length < 2) return 0;
  const countsByText = texts.map(words =>
    Array.from({ length: maxOrder }, (_, n) => countEach(listNgrams(words, n + 1))),
  );
  const peaks = findPeaks(countsByText);
  const lengths = texts.map(it => it.length).sort((a, b) => a - b);
  let sum = 0;
  for (const [text, countsByOrder] of countsByText.entries()) {
    const { length } = texts[text]!;
    if (length === 0) continue;
    const orders = countsByOrder.slice(0, Math.min(maxOrder, length));
    const logPrecisions = orders.map(it =>
      Math.log(Math.max(computeClippedCount(it, text, peaks), smoothing) / sumCounts(it)),
    );
    const brevityPenalty = Math.min(1, Math.exp(1 - findClosestLength(lengths, length) / length));
    sum += brevityPenalty * Math.exp(logPrecisions.reduce((a, b) => a + b, 0) / orders.length);
  }
  return sum / texts.length;
}

function countEach(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const it of keys) counts.set(it, (counts.get(it) ?? 0) + 1);
  return counts;
}

function findPeaks(
  countsByText: readonly (readonly ReadonlyMap<string, number>[])[],
): ReadonlyMap<string, Peak> {
  const peaks = new Map<string, Peak>();
  for (const [text, countsByOrder] of countsByText.entries())
    for (const counts of countsByOrder)
      for (const [ngram, count] of counts) {
        const peak = peaks.get(ngram);
        if (!peak) peaks.set(ngram, { text, count, countElsewhere: 0 });
        else if (count > peak.count) peaks.set(ngram, { text, count, countElsewhere: peak.count });
        else peak.countElsewhere = Math.max(peak.countElsewhere, count);
      }
  return peaks;
}

/** Counts the n-grams of a text, each at most as often as the other text that has most of it. */
function computeClippedCount(
  counts: ReadonlyMap<string, number>,
  text: number,
  peaks: ReadonlyMap<string, Peak>,
): number {
  let sum = 0;
  for (const [ngram, count] of counts) {
    const peak = peaks.get(ngram)!;
    sum += Math.min(count, peak.text === text ? peak.countElsewhere : peak.count);
  }
  return sum;
}

const sumCounts = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((a, b) => a + b, 0);

/**
 * Finds BLEU's effective reference length: the length of another text that is closest to a text's
 * own; of two that are equally close, the shorter.
 */
function findClosestLength(lengths: readonly number[], own: number): number {
  let hasSkippedOwn = false;
  let closest = Infinity;
  for (const it of lengths) {
    if (it === own && !hasSkippedOwn) hasSkippedOwn = true;
    else if (Math.abs(it - own) < Math.abs(closest - own)) closest = it;
  }
  return closest;
}

const computeShare = (part: number, whole: number): number =>
  whole === 0 ? 0 : roundToFourDigits(part / whole);

const roundToFourDigits = (value: number): number => Math.round(value * 10_000) / 10_000;
