/** The plain values in a JSON value: how they are listed, and which of them do not occur by chance. */
import type { Json } from "../environment/json.ts";

export type Scalar = string | number | boolean;

/** The plain values in a value, in their order; `null` is left out. */
export function listScalars(value: Json): readonly Scalar[] {
  const scalars: Scalar[] = [];
  addScalars(value, scalars);
  return scalars;
}

function addScalars(value: Json, scalars: Scalar[]): void {
  if (value === null) return;
  if (typeof value === "object")
    for (const it of Object.values<Json>(value)) addScalars(it, scalars);
  else scalars.push(value);
}

/**
 * Whether a value does not occur by chance: not a boolean, a small whole number or a word of one or
 * two letters.
 */
export function isDistinctive(value: Scalar): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Math.abs(value) >= 10;
  return typeof value === "string" && value.length >= 3;
}
