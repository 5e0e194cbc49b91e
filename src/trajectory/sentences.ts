/**
 * The sentences of a text. Takes linear time, which a pattern that looks back from each space to
 * the sign before it does not: it reads a long run of quotes again for each of them.
 */

/** Where a sentence ends: after its sign, with what closes behind it, or at the end of a line. */
const ends = {
  signs: /[.!?…]["”’')\]*_]*\s+/g,
  signsAndLines: /[.!?…]["”’')\]*_]*\s+|\n+/g,
} as const;

/** The sentences without the white space between them. By default, each line is one, too. */
export function splitSentences(
  text: string,
  { at = "signsAndLines" }: { readonly at?: keyof typeof ends } = {},
): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { index, 0: end } of text.matchAll(ends[at])) {
    sentences.push(text.slice(start, index + end.trimEnd().length));
    start = index + end.length;
  }
  sentences.push(text.slice(start));
  return sentences;
}
