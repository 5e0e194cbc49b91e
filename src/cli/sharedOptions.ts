/** Options that several commands have, with one meaning everywhere. */
import { localAddress, type EndpointSettings } from "../app/endpoints.ts";
import { flag, option, type OptionValues } from "./command.ts";
import { countOf, wholeNumber } from "./parsers.ts";

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
