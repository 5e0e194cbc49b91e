/** How a text is looked for by the words a person gives. Knows no language. */

/** Whether a text contains a part, whatever its case. */
export const containsText = (text: string, part: string): boolean =>
  text.toLowerCase().includes(part.trim().toLowerCase());

/** Whether a text contains every word of a query, in any order. */
export const containsWords = (text: string, query: string): boolean => {
  const within = text.toLowerCase();
  return query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every(it => within.includes(it));
};
