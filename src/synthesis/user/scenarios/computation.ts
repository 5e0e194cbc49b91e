/**
 * Values that the user leaves to the assistant to compute from what earlier steps have shown, and
 * the rows of a list that a condition chooses.
 */
import { isJsonObject, type Json, type JsonObject } from "../../../environment/json.ts";
import { findFirstList } from "./condition.ts";
import type { Random } from "../../../environment/random.ts";
import { getField } from "../../text/replies.ts";
import type { RowCondition, ScenarioComputation } from "../../text/scenarios.ts";

/** Texts for slots that are no arguments, such as the limit that chooses rows. */
type SlotValues = Readonly<Record<string, string | number>>;

interface Computed {
  readonly value: number;
  readonly slots: SlotValues;
}

/** What the steps before have: the rows of a list that is not cut, and the value of a reference. */
interface ComputationSource {
  readonly listRows: (step: string) => readonly JsonObject[] | undefined;
  readonly getValue: (reference: string) => Json | undefined;
}

/** The value of a computation, or undefined if a person would not ask for it here. */
export function compute(
  computation: ScenarioComputation,
  source: ComputationSource,
  random: Random,
): Computed | undefined {
  const { is, of, field, where, minus, times, percent, parts, round } = computation;
  const slots: Record<string, string | number> = {};
  let operands: (Json | undefined)[];
  if (field !== undefined || is === "count") {
    const rows = source.listRows(of as string);
    const selected = rows && selectRows(rows, where, random);
    if (!selected) return undefined;
    Object.assign(slots, selected.slots);
    operands = is === "count" ? selected.rows.map(() => 1) : selected.rows.map(it => it[field!]);
    // what a row does not have adds nothing
    if (is === "sum") operands = operands.filter(it => it !== undefined && it !== null);
    // one row needs no computing
    if (operands.length < 2) return undefined;
  } else operands = [of].flat().map(it => source.getValue(it));
  if (minus !== undefined) operands.push(source.getValue(minus));
  if (times !== undefined) operands.push(source.getValue(times));
  if (!operands.every(it => typeof it === "number")) return undefined;
  const share = percent && random.pick(percent);
  if (share !== undefined) slots["percent"] = share;
  const part = parts && random.pick(parts);
  if (part !== undefined) slots["parts"] = numberWords[part] ?? part;
  const fraction = part === undefined ? (share ?? 100) / 100 : 1 / part;
  const factor = is === "less" ? 1 - fraction : is === "more" ? 1 + fraction : fraction;
  const value = roundExactly(operate(is, operands, factor), round);
  return value === undefined || value <= 0 ? undefined : { value, slots };
}

const numberWords: Readonly<Record<number, string>> = {
  2: "two",
  3: "three",
  4: "four",
  5: "five",
};

function operate(
  is: ScenarioComputation["is"],
  operands: readonly number[],
  factor: number,
): number {
  const sum = operands.reduce((a, b) => a + b, 0);
  switch (is) {
    case "sum":
    case "count":
      return sum;
    case "average":
      return sum / operands.length;
    case "difference":
      return operands[0]! - operands[1]!;
    case "product":
      return operands[0]! * operands[1]!;
    default:
      return operands[0]! * factor;
  }
}

/**
 * The value with the decimals that the user asks for or, without them, with up to two if it has no
 * more: where nobody says how to round, there must be nothing to round. A value halfway between two
 * is not used, because people round it both ways.
 */
function roundExactly(value: number, decimals: number | undefined): number | undefined {
  const scale = 10 ** (decimals ?? 2);
  const scaled = Number((value * scale).toPrecision(12));
  const isExact = Math.abs(scaled - Math.round(scaled)) < 1e-6;
  const isHalf = Math.abs(Math.abs(scaled % 1) - 0.5) < 1e-6;
  if (decimals === undefined ? !isExact : isHalf) return undefined;
  return Math.round(scaled) / scale;
}

/** The rows for which a condition holds; undefined if it holds for all or for none of them. */
export function selectRows(
  rows: readonly JsonObject[],
  where: RowCondition | undefined,
  random: Random,
): { readonly rows: readonly JsonObject[]; readonly slots: SlotValues } | undefined {
  if (!where) return { rows, slots: {} };
  for (const limit of where.limit ? random.shuffle([...where.limit]) : [undefined]) {
    const chosen = rows.filter(it => holds(where, getField(it, where.field), limit));
    if (chosen.length === 0 || chosen.length === rows.length) continue;
    // nobody says "over 20" if something costs 20
    if (rows.some(it => limit !== undefined && getField(it, where.field) === limit)) continue;
    return { rows: chosen, slots: limit === undefined ? {} : { limit } };
  }
  return undefined;
}

function holds({ is, equals }: RowCondition, value: Json | undefined, limit?: number): boolean {
  // what a row does not have is null
  if (is === undefined) return [equals ?? null].flat().some(it => it === (value ?? null));
  if (typeof value !== "number" || limit === undefined) return false;
  return is === "over" ? value > limit : value < limit;
}

/** The rows of the first list in a result. */
export const listResultRows = (result: Json): readonly JsonObject[] =>
  (findFirstList(result) ?? []).filter(isJsonObject);
