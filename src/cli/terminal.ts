/**
 * Prints on stdout and stderr. Control and bidirectional characters are escaped, so that text from
 * files, models and other servers cannot control the terminal that shows it.
 */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { escapeInvisible, escapeInvisibleAsJson } from "../trajectory/invisibleText.ts";
import type { UserError } from "../userError.ts";
import type { CliContext } from "./command.ts";

interface Terminal extends Pick<
  CliContext,
  "print" | "printAndDrain" | "printNote" | "showProgress"
> {
  /** Prints an error of the user on stderr, with its remedy. */
  readonly printUserError: (error: UserError) => void;
}

export function createTerminal(
  stdout: Writable,
  stderr: Writable & { readonly isTTY?: boolean },
): Terminal {
  const clearLine = stderr.isTTY ? "\r\u001b[K" : "";
  const printNote = (text: string) => void stderr.write(`${clearLine}${escapeLines(text)}\n`);
  return {
    print: text => void stdout.write(formatOutput(text)),
    async printAndDrain(text) {
      if (!stdout.write(formatOutput(text))) await once(stdout, "drain");
    },
    printNote,
    showProgress: stderr.isTTY
      ? line => void stderr.write(`${clearLine}${escapeInvisible(line)}`)
      : limitRate(printNote),
    printUserError: ({ what, remedy }) =>
      printNote(`prove-rl: ${escapeInvisible(what)}\n  ${escapeInvisible(remedy)}`),
  };
}

/** What is printed on stdout may be JSON, whose value must stay the same. */
const formatOutput = (text: string) =>
  `${text.split("\n").map(escapeInvisibleAsJson).join("\n")}\n`;

const escapeLines = (text: string) => text.split("\n").map(escapeInvisible).join("\n");

const progressInterval = 5_000;

function limitRate(print: (line: string) => void): (line: string) => void {
  let last = -Infinity;
  return line => {
    const now = performance.now();
    if (now - last < progressInterval) return;
    last = now;
    print(line);
  };
}

interface Question {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly signal: AbortSignal;
}

/**
 * Returns the function that asks yes-or-no questions, or undefined if nobody can answer. Every
 * answer but `y` and `yes` is a no.
 */
export function createConfirm({
  stdin,
  stderr,
  signal,
}: Question): ((question: string) => Promise<boolean>) | undefined {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  return async question => {
    // no terminal mode, in which Ctrl-C would not be a signal
    const lines = createInterface({ input: stdin, output: stderr, terminal: false });
    try {
      const answer = await Promise.race([
        lines.question(`${escapeInvisible(question)} [y/N] `, { signal }),
        once(lines, "close").then(() => ""),
      ]);
      return /^y(es)?$/i.test(answer.trim());
    } finally {
      lines.close();
    }
  };
}
