/** Describes the shape of a menu in numbers, without the names of its tools. */
import type { Tool } from "../environment/server.ts";
import type { Task } from "../trajectory/task.ts";
import type { SparseVector } from "./logisticRegression.ts";

/** The server and the effect of a tool, or undefined for a tool that no server has. */
export type ToolLookUp = (name: string) => Pick<Tool, "server" | "effect"> | undefined;

/** Size, servers, the largest server's share, reads, writes, the share of stripped enums. */
export function describeShape({ menu, tools = [] }: Task, findTool: ToolLookUp): number[] {
  const found = menu.map(it => findTool(it.name));
  const counts = new Map<string, number>();
  for (const it of found) counts.set(it?.server ?? "", (counts.get(it?.server ?? "") ?? 0) + 1);
  const size = menu.length + tools.length;
  const writes = found.filter(it => it?.effect === "write").length;
  return [
    size,
    counts.size,
    size === 0 ? 0 : Math.max(0, ...counts.values()) / size,
    found.length - writes,
    writes,
    size === 0 ? 0 : writes / size,
    size === 0 ? 0 : menu.filter(it => it.enumsStripped).length / size,
  ];
}

/** The shapes with zero mean and unit variance, with their squares and products. */
export function createShapeVectors(shapes: readonly (readonly number[])[]): {
  vectors: SparseVector[];
  size: number;
} {
  const standard = standardize(shapes);
  const products = standard.map(it => it.flatMap((a, i) => it.slice(i).map(b => a * b)));
  const expanded = standardize(standard.map((it, i) => [...it, ...products[i]!]));
  const size = expanded[0]?.length ?? 0;
  const indices = Array.from({ length: size }, (_, i) => i);
  return { vectors: expanded.map(values => ({ indices, values })), size };
}

function standardize(rows: readonly (readonly number[])[]): number[][] {
  const columns = rows[0]?.map((_, i) => {
    const values = rows.map(it => it[i]!);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
    return { mean, deviation: Math.sqrt(variance) };
  });
  return rows.map(row =>
    row.map((it, i) => {
      const { mean, deviation } = columns![i]!;
      return deviation < 1e-9 ? 0 : (it - mean) / deviation;
    }),
  );
}
