/** Formats the parts of a report for the terminal. */
import { formatDistances, formatShape, type Report } from "../synthesis/pipeline/report/report.ts";

export const formatCounts = (counts: Readonly<Record<string, number>> = {}): string =>
  Object.entries(counts)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ");

/** The shape of the tasks, and the table of distances, where the report has them. */
export function formatMeasures({
  shape,
  distances,
}: Pick<Report, "shape" | "distances">): string[] {
  const { headings, rows } = formatDistances(distances);
  const formatRow = (first: string, cells: readonly string[]) =>
    `    ${first.padEnd(16)}${cells.map(it => it.padStart(10)).join("")}`;
  return [
    ...(shape ? ["  shape:"] : []),
    ...(shape ? formatShape(shape).map(([name, text]) => `    ${name}: ${text}`) : []),
    ...(rows.length === 0
      ? []
      : [
          "  distance to training, of the tasks with goals:",
          formatRow(
            "",
            headings.map(it => it.text),
          ),
          ...rows.map(({ split, cells }) => formatRow(split, cells)),
          ...headings.slice(1).map(it => `    ${it.text}: ${it.description}`),
        ]),
  ];
}
