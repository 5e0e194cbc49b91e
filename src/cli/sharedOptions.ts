/** Options that several commands have, with one meaning everywhere. */
import { flag, option } from "./command.ts";
import { wholeNumber } from "./parsers.ts";

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
