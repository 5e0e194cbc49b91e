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
