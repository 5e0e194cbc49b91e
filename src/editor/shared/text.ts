/**
 * Turns text from outside, such as file contents, names and error messages, into text that the
 * editor cannot render as anything else: no links, no commands, no icons, no invisible characters.
 * Formats counts and lists.
 */
import { escapeInvisible, splitVisibleLines } from "../../trajectory/invisibleText.ts";

/** The text with its line breaks. The editor renders it as it is written. */
export const toPlainText = (text: string): string =>
  splitVisibleLines(text).map(separateMarkup).join("\n");

/** The text on one line. The editor renders it as it is written. */
export const toPlainLine = (text: string): string => separateMarkup(escapeInvisible(text));

/** Shortens a text to a number of UTF-16 units, without cutting a character in half. */
export const truncateText = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text
    : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;

/**
 * Separates the brackets of `[label](command:…)`, which notifications and input boxes render as a
 * link, and the dollar sign of `$(name)`, which quick picks, code lenses and input boxes render as
 * an icon.
 */
const separateMarkup = (text: string): string =>
  text.replaceAll("](", "] (").replaceAll("$(", "$ (");

export const formatCount = (n: number, noun: string): string =>
  `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** Joins names, such as "banking, calendar and filesystem". */
export const formatList = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
