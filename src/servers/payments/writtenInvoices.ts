/** Reads the invoices that are text files in the file system of a fixture set. */
import type { Line } from "./booksBuilder.ts";

export interface WrittenInvoice {
  readonly number: number;
  readonly firm: string;
  readonly lines: readonly Line[];
  readonly isPaid: boolean;
  readonly due?: string;
}

/** The invoices in text files of a file system, including its trash, by number. */
export function findWrittenInvoices(disk: unknown): WrittenInvoice[] {
  const found: WrittenInvoice[] = [];
  const walk = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    const { text } = node as { text?: unknown };
    const written = typeof text === "string" ? parseInvoice(text) : undefined;
    if (written) found.push(written);
    for (const it of Object.values(node)) walk(it);
  };
  walk(disk);
  return found.sort((a, b) => a.number - b.number);
}

function parseInvoice(text: string): WrittenInvoice | undefined {
  const head = /^Invoice (\d+) for (.+)\n/.exec(text);
  if (!head) return undefined;
  const rows = [...text.matchAll(/^(.+) (\d+)$/gm)].filter(it => it[1] !== "Total");
  const lines = rows.map(it => ({ text: it[1]!, quantity: 1, unit_price: Number(it[2]) }));
  const due = /^Due (\d{4}-\d\d-\d\d)$/m.exec(text)?.[1];
  return {
    number: Number(head[1]),
    firm: head[2]!,
    lines,
    isPaid: /^Status: paid$/m.test(text),
    ...(due === undefined ? {} : { due }),
  };
}
