/**
 * What no tool takes, whatever its schema says: values too large to look at, text in more than one
 * spelling, a zero below zero. Asked before a schema is, so that a hostile argument costs no more
 * than a look. Knows no tools.
 */

const most = { values: 10_000, depth: 32, characters: 100_000, keyCharacters: 1000 };

/** Where and why arguments are not sound, or undefined. */
export function unsound(
  args: unknown,
): { readonly type: "invalid_params" | "limit_exceeded"; readonly why: string } | undefined {
  const seen = { values: 0 };
  return flawOf(args, "", 0, seen);
}

type Flaw = ReturnType<typeof unsound>;

function flawOf(value: unknown, at: string, depth: number, seen: { values: number }): Flaw {
  if (++seen.values > most.values)
    return { type: "limit_exceeded", why: `the arguments hold more than ${most.values} values` };
  if (typeof value === "string") return flawOfText(value, at || "arguments");
  if (typeof value === "number")
    return Object.is(value, -0)
      ? { type: "invalid_params", why: `${at || "arguments"} is -0: write 0` }
      : undefined;
  if (value === null || typeof value !== "object") return undefined;
  if (depth === most.depth)
    return { type: "limit_exceeded", why: `${at} is nested more than ${most.depth} levels deep` };
  for (const key of Object.keys(value)) {
    const flaw =
      flawOfText(key, "a key", most.keyCharacters) ??
      flawOf((value as Record<string, unknown>)[key], at ? `${at}.${key}` : key, depth + 1, seen);
    if (flaw) return flaw;
  }
  return undefined;
}

function flawOfText(text: string, at: string, longest = most.characters): Flaw {
  if (text.length > longest)
    return {
      type: "limit_exceeded",
      why: `${at} has ${text.length} characters; ${longest} are the most`,
    };
  // most text is ASCII, which has one spelling
  if (isAscii(text)) return undefined;
  if (/\p{Surrogate}/u.test(text))
    return {
      type: "invalid_params",
      why: `${at} is not well-formed Unicode: it holds half a character`,
    };
  if (text.normalize("NFC") !== text)
    return { type: "invalid_params", why: `${at} is not in Unicode's composed form (NFC)` };
  return undefined;
}

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
};
