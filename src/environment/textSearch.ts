/** Text search by what a person types, without regard to case. */

export const containsText = (text: string, part: string): boolean =>
  text.toLowerCase().includes(part.trim().toLowerCase());

/** Whether a text contains every word of a query, in any order. */
export const containsWords = (text: string, query: string): boolean => {
  const lowerCase = text.toLowerCase();
  return query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every(it => lowerCase.includes(it));
};

/** The number of letters to insert, remove or replace (Levenshtein). */
export function countEdits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    row = next;
  }
  return row[b.length]!;
}
