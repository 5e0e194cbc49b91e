/** Reads JSON Pointers (RFC 6901), with which patches say what they change. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { State } from "../../environment/state.ts";

/** The keys of a JSON Pointer. */
export const splitPointer = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split("/")
    .map(it => it.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The value at a JSON Pointer; undefined if there is none. */
export function getValueAt(state: State, pointer: string): Json | undefined {
  let value: Json | undefined = state as unknown as Json;
  for (const key of splitPointer(pointer))
    value =
      value !== null && typeof value === "object" && Object.hasOwn(value, key)
        ? (value as JsonObject)[key]
        : undefined;
  return value;
}

/** The name of what a patch changes, such as `accounts.acc_101.balance`. */
export const formatPatchPath = (path: string): string =>
  path
    .slice(1)
    .replace(/^[^/]+\/world\//, "")
    .replaceAll("/", ".");
