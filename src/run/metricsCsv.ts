/** Writes the metrics of a run as comma-separated values. */
import type { StepMetrics } from "./metrics.ts";

/**
 * One row per step, after a row with the names. A number inside an object is named by its path,
 * such as `reward.mean`, and a list is written as JSON. A value that a step lacks is empty.
 */
export function formatMetricsCsv(steps: readonly StepMetrics[]): string {
  const rows = steps.map(it => new Map(listValues(it, "")));
  const names = [...new Set(rows.flatMap(it => [...it.keys()]))];
  return [names, ...rows.map(row => names.map(it => row.get(it) ?? ""))]
    .map(it => `${it.map(quote).join(",")}\n`)
    .join("");
}

function listValues(value: object, prefix: string): (readonly [name: string, text: string])[] {
  return Object.entries(value).flatMap(([key, it]: [string, unknown]) => {
    const name = `${prefix}${key}`;
    if (it === undefined) return [];
    if (typeof it === "string") return [[name, it] as const];
    if (typeof it !== "object" || it === null) return [[name, JSON.stringify(it)] as const];
    return Array.isArray(it) ? [[name, JSON.stringify(it)] as const] : listValues(it, `${name}.`);
  });
}

/** A value that contains a separator is quoted as in RFC 4180. */
const quote = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
