/**
 * Variants of a fixture: the same state with every id renumbered, and all references to it as well.
 * Training on many variants teaches a model to read ids instead of memorizing them. An id is a key
 * such as `acc_101` that names a row, whatever the server.
 */
import { deepFreeze } from "./digest.ts";
import type { Fixture } from "./fixture.ts";
import { createIdTemplate, type IdTemplate } from "./idTemplate.ts";
import { shuffle } from "./random.ts";

const separator = "~";

/** `full~17` is variant 17 of `full`; a name without `~` is not a variant. */
export function parseVariantName(
  name: string,
): { readonly fixture: string; readonly number: number } | undefined {
  const at = name.indexOf(separator);
  const number = name.slice(at + 1);
  return at > 0 && /^[1-9]\d{0,5}$/.test(number)
    ? { fixture: name.slice(0, at), number: Number(number) }
    : undefined;
}

export const formatVariantName = (fixture: string, number: number): string =>
  `${fixture}${separator}${number}`;

const templates = new WeakMap<Fixture, IdTemplate>();

/** The fixture with its ids renumbered; equal numbers give equal fixtures. */
export function createVariant(fixture: Fixture, number: number): Fixture {
  let template = templates.get(fixture);
  if (!template) templates.set(fixture, (template = createIdTemplate(deepFreeze(fixture.state))));
  const { ids, instantiate } = template;
  let newIds: readonly string[] | undefined;
  return Object.freeze({
    ...fixture,
    name: formatVariantName(fixture.name, number),
    state: instantiate(() => (newIds ??= renumberIds(ids, number))),
  });
}

function renumberIds(ids: readonly string[], seed: number): string[] {
  const numbers = shuffleNumbers(900, seed).map(it => it + 100);
  return ids.map((id, i) => {
    const number = numbers[i % numbers.length]! + 900 * Math.floor(i / numbers.length);
    return `${id.slice(0, id.lastIndexOf("_"))}_${number}`;
  });
}

/** The numbers below n, in an order that depends only on the seed. */
function shuffleNumbers(n: number, seed: number): number[] {
  let state = Math.imul(seed, 0x9e3779b9) >>> 0;
  return shuffle(
    Array.from({ length: n }, (_, i) => i),
    () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32,
  );
}
