/**
 * An endpoint as a person names it on the command line: address and model as options, the key from
 * the environment alone. Says where things go before anything leaves the machine. Knows no wire.
 */
import { UserError } from "../userError.ts";
import { openEndpoint, type Endpoint, type EndpointOptions } from "../policy/endpoint.ts";
import { EndpointFault } from "../policy/endpointFault.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { CliCommand, CliContext, Values } from "./command.ts";
import { countIn } from "./number.ts";

/** Options that name an endpoint and its limits. */
export const endpointOptions = {
  "base-url": { type: "string" },
  concurrency: { type: "string" },
  "requests-per-minute": { type: "string" },
  "token-budget": { type: "string" },
} as const satisfies CliCommand["options"];

/** How they are written in a command's usage. */
export const endpointUsage =
  "[--base-url URL] [--concurrency N] [--requests-per-minute N] [--token-budget N]";

const localAddress = "http://127.0.0.1:8000/v1";

export interface OpenedEndpoint {
  readonly endpoint: Endpoint;
  readonly concurrency: number;
}

/** As a person names an endpoint: what is left out is the environment's, or usual. */
export type EndpointChoice = Omit<EndpointOptions, "url" | "timeout" | "time"> & {
  readonly url?: string | undefined;
};

/** The endpoint's options as a person gave them. */
export const readEndpointOptions = (model: string, values: Values): EndpointChoice => ({
  model,
  url: values["base-url"] as string | undefined,
  concurrency: countIn(values, "concurrency"),
  perMinute: countIn(values, "requests-per-minute"),
  tokens: countIn(values, "token-budget"),
});

/**
 * Opens it, and says on stderr which address is asked and what it is sent, unless that is this
 * machine.
 */
export function openEndpointFor(
  { url, key, concurrency = 8, ...choice }: EndpointChoice,
  sends: string,
  { printNote: say }: Pick<CliContext, "printNote">,
  env: NodeJS.ProcessEnv = process.env,
): OpenedEndpoint {
  const named = url ?? (env["PROVE_BASE_URL"] || undefined);
  // OpenAI's own key goes nowhere that nobody named
  const found =
    key ??
    (env["PROVE_API_KEY"] ||
      (named === undefined ? undefined : env["OPENAI_API_KEY"]) ||
      undefined);
  const endpoint = openEndpoint({ ...choice, url: named ?? localAddress, key: found, concurrency });
  const { hostname, origin, pathname, protocol } = endpoint.address;
  if (!isLoopback(hostname)) {
    say(
      `asking ${escapeInvisible(choice.model)} at ${escapeInvisible(origin + pathname)}, which is not on this machine: it is sent ${sends}${found === undefined ? "" : ", and your key"}`,
    );
    if (protocol === "http:")
      say(
        `  ${escapeInvisible(hostname)} uses plain http: anyone on the network path can read ${found === undefined ? "all of it" : "all of it, including the key"}`,
      );
  }
  return { endpoint, concurrency };
}

/** What leaves the machine. */
export const sentContent = {
  evaluation:
    "the conversations of the tasks, the schemas of the tools on offer and what the tools answer",
  graph: "the names, descriptions and schemas of the tools",
  synthesis:
    "what the users want, the names in the fixtures that are used, the schemas of the tools on offer and what the tools answer",
};

/** A fault of an endpoint as a person's affair; anything else as it is. */
export const toUserError = (error: unknown): unknown =>
  error instanceof EndpointFault
    ? new UserError(error.message, error.remedy, { cause: error })
    : error;

const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  host === "[::1]" ||
  /^127\.\d+\.\d+\.\d+$/.test(host);
