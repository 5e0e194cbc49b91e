/**
 * Marks around a value's own words in a text. They keep the value's case at the start of a sentence
 * and its boundaries while sentences are joined.
 */

/** Stands before a value. */
const startMark = "\u0001";

/** Stands after a value in a reply. */
export const endMark = "\u0002";

export const markVerbatim = (value: string): string => startMark + value;

/** The text without start marks. */
export const removeMarks = (text: string): string => text.replaceAll(startMark, "");

/** The text without start and end marks. */
export const removeAllMarks = (text: string): string => text.replaceAll(/[\u0001\u0002]/g, "");
