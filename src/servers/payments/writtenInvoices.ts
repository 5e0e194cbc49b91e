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
export function findWrittenInvoices(filesystem: unknown): WrittenInvoice[] {
  const invoices: WrittenInvoice[] = [];
  const walk = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    const { text } = node as { text?: unknown };
    const invoice = typeof text === "string" ? parseInvoice(text) : undefined;
    if (invoice) invoices.push(invoice);
    for (const it of Object.values(node)) walk(it);
  };
  walk(filesystem);
  return invoices.sort((a, b) => a.number - b.number);
}

function parseInvoice(text: string): WrittenInvoice | undefined {
  const heading = /^Invoice (\d+) for (.+)\n/.exec(text);
  if (!heading) return undefined;
  const rows = [...text.matchAll(/^(.+) (\d+)$/gm)].filter(it => it[1] !== "Total");
  const lines = rows.map(it => ({ text: it[1]!, quantity: 1, unit_price: Number(it[2]) }));
  const due = /^Due (\d{4}-\d\d-\d\d)$/m.exec(text)?.[1];
  return {
    number: Number(heading[1]),
    firm: heading[2]!,
    lines,
    isPaid: /^Status: paid$/m.test(text),
    ...(due === undefined ? {} : { due }),
  };
}
