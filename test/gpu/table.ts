/** A table in Markdown. */

export interface TableRow {
  readonly step: string;
  /** What was measured here, and what PyTorch takes for the same. */
  readonly figure: string;
  readonly other: string;
}

export function formatTable(rows: readonly TableRow[]): string[] {
  const all = [{ step: "step", figure: "PROVE", other: "PyTorch" }, ...rows];
  const keys = ["step", "figure", "other"] as const;
  const widths = keys.map(key => Math.max(...all.map(it => it[key].length)));
  const format = (row: TableRow) =>
    `| ${keys.map((key, i) => row[key].padEnd(widths[i]!)).join(" | ")} |`;
  const rule = `| ${widths.map(it => "-".repeat(it)).join(" | ")} |`;
  const [head, ...body] = all.map(format);
  return [head!, rule, ...body];
}
