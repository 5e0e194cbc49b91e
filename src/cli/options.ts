/**
 * Parses the values of options and arguments (numbers, choices, lists and paths), and defines the
 * options that several commands have, with one meaning everywhere.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../userError.ts";
import { type Parser, flag, option, type OptionValues } from "./command.ts";
import { suggestName } from "../storage/suggestName.ts";
import { localAddress, type EndpointSettings } from "../app/endpoints.ts";

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

export const fixtureOption = option("--fixture <name>", "fixture that the session starts from", {
  default: "full",
});

export const seedOption = option("--seed <n>", "seed of every random choice", {
  parser: wholeNumber(),
  default: 1,
});

export const jsonFlag = flag("--json", "print one JSON document");

export const connectOption = option(
  "--connect <name>",
  "use this server of prove/mcp.json instead; the command starts and stops it",
);

export const trustServerFlag = flag(
  "--trust-server",
  "start the server of --connect without asking, even if its tools may change things",
);

/** Read by the program itself when it loads the servers. */
export const processesOption = option(
  "--processes <n>",
  "processes of each third-party server that may run at the same time (default: 4)",
  { parser: wholeNumber({ min: 1, max: 256 }) },
);

/** Options for the address of an endpoint and its limits. */
export const endpointOptions = {
  baseUrl: option(
    "--base-url <url>",
    `address of the endpoint (default: PROVE_BASE_URL, else ${localAddress})`,
  ),
  concurrency: option("--concurrency <n>", "requests to the endpoint at the same time", {
    parser: countOf("a number"),
    default: 8,
  }),
  requestsPerMinute: option("--requests-per-minute <n>", "most requests in a minute", {
    parser: countOf("a number"),
  }),
  tokenBudget: option("--token-budget <n>", "most tokens to read and write in total", {
    parser: countOf("a number"),
  }),
};

/** The endpoint that the options describe. */
export const readEndpointOptions = ({
  baseUrl: url,
  concurrency,
  requestsPerMinute: perMinute,
  tokenBudget: tokens,
}: OptionValues<typeof endpointOptions>): EndpointSettings => ({
  url,
  concurrency,
  perMinute,
  tokens,
});
