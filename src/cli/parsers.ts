/** Parses the values of options and arguments: numbers, choices, lists and paths. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../userError.ts";
import type { Parser } from "./command.ts";
import { suggestName } from "../storage/suggestName.ts";

interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  /** What the number is; completes "--count five is not …". */
  readonly noun?: string;
}

/** A whole number, from 0 on by default. */
export function wholeNumber({ min = 0, max, noun }: NumberRange = {}): Parser<number> {
  const range = max === undefined ? ` from ${min} on` : ` from ${min} to ${max}`;
  const isAny = min === 0 && max === undefined;
  return {
    parse(text, { name }) {
      const number = Number(text);
      if (/^\d+$/.test(text) && number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER))
        return number;
      throw new UserError(
        `${name} ${text} is not ${noun ?? `a whole number${isAny ? "" : range}`}`,
        `give a whole number${range}`,
      );
    },
  };
}

/** A whole number from 1 on. */
export const countOf = (noun: string): Parser<number> => wholeNumber({ min: 1, noun });

/** A number above zero, with or without decimals. */
export const positiveNumber: Parser<number> = {
  parse(text, { name }) {
    const number = Number(text);
    if (Number.isFinite(number) && number > 0) return number;
    throw new UserError(`${name} ${text} is not a number above zero`, "give a number such as 60");
  },
};

/** A share, from 0 to 1. */
export const share: Parser<number> = {
  parse(text, { name }) {
    const number = Number(text);
    if (text.trim() !== "" && number >= 0 && number <= 1) return number;
    throw new UserError(
      `${name} ${text} is not a share`,
      "give a number from 0 to 1, such as 0.47",
    );
  },
};

/** One of a few words. The complaint is followed by the text: "there is no split test". */
export function oneOf<const T extends string>(choices: readonly T[], complaint: string): Parser<T> {
  return {
    choices,
    parse(text) {
      const choice = choices.find(it => it === text);
      if (choice !== undefined) return choice;
      throw new UserError(
        `${complaint} ${text}${suggestName(text, choices)}`,
        `choose ${choices.join(" or ")}`,
      );
    },
  };
}

/** Words with commas between them. */
export const commaList: Parser<readonly string[]> = {
  parse: text =>
    text
      .split(",")
      .map(it => it.trim())
      .filter(it => it !== ""),
};

/** The path of a file or folder that exists. The value is the path as it was given. */
export const existingPath = (noun: string): Parser<string> => ({
  parse(text, { name, cwd }) {
    if (existsSync(resolve(cwd, text))) return text;
    throw new UserError(`${name}: there is no file or folder ${text}`, `give the path of ${noun}`);
  },
});

/**
 * The path of a file or folder to write. A number alone is not accepted for a new one, because it
 * is more likely a slip than a name.
 */
export const outputPath = (example: string): Parser<string> => ({
  hint: "./5 for one named 5",
  parse(text, { name, cwd }) {
    if (!/^[+-]?\d+(\.\d+)?$/.test(text) || existsSync(resolve(cwd, text))) return text;
    throw new UserError(
      `${name} ${text} is a number, not a path`,
      `give a path such as ${example}, or ./${text} for that name`,
    );
  },
});
