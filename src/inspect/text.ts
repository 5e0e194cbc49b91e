/** Parts of the answers that agents get: bounded lines, and what was left out in words. */
import { escapeInvisible } from "../trajectory/invisibleText.ts";

/** The most characters of an answer. */
export const maxAnswer = 12_000;

/** A text from a file on one line, shortened. */
export function clip(text: string, length: number): string {
  const line = escapeInvisible(text);
  return line.length <= length
    ? line
    : `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A part of a list, from `offset` on, and a line that says how to get the rest. */
export function takePage<T>(
  items: readonly T[],
  offset: number,
  size: number,
): { readonly page: readonly T[]; readonly more: readonly string[] } {
  const page = items.slice(offset, offset + size);
  const left = items.length - offset - page.length;
  return {
    page,
    more: left > 0 ? [`… ${left} more: ask again with offset ${offset + page.length}`] : [],
  };
}

/** Cuts an answer that is too long after its last whole line. */
export function limitAnswer(lines: readonly string[]): string {
  const text = lines.join("\n");
  if (text.length <= maxAnswer) return text;
  const end = text.lastIndexOf("\n", maxAnswer - 80);
  return `${text.slice(0, end)}\n… ${text.length - end} more characters are left out`;
}

export const formatNumber = (it: number): string => String(Number(it.toPrecision(4)));

export const formatPercent = (share: number): string => `${(100 * share).toFixed(1)}%`;

export const formatCount = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
