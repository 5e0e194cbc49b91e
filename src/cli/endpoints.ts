/**
 * Opens an OpenAI-compatible endpoint that is chosen on the command line: address and model are
 * options, the key comes from the environment only. Before anything leaves the machine, a note says
 * what is sent where.
 */
import { UserError } from "../userError.ts";
import { openEndpoint, type Endpoint, type EndpointOptions } from "../policy/endpoint.ts";
import { EndpointFault } from "../policy/endpointFormat.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { option, type CliContext, type OptionValues } from "./command.ts";
import { countOf } from "./parsers.ts";

const localAddress = "http://127.0.0.1:8000/v1";

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

export interface OpenedEndpoint {
  readonly endpoint: Endpoint;
  readonly concurrency: number;
}

/** A model of an endpoint. An address that is left out comes from the environment. */
export type EndpointChoice = Omit<EndpointOptions, "url" | "timeout" | "time"> & {
  readonly url?: string | undefined;
};

/** A model of the endpoint that the options describe. */
export const createEndpointChoice = (
  model: string,
  options: OptionValues<typeof endpointOptions>,
): EndpointChoice => ({
  model,
  url: options.baseUrl,
  concurrency: options.concurrency,
  perMinute: options.requestsPerMinute,
  tokens: options.tokenBudget,
});

/**
 * Opens the endpoint. If it is not on this machine, a note names its address and what is sent to
 * it.
 */
export function openEndpointFor(
  { url, key, concurrency = 8, ...choice }: EndpointChoice,
  content: string,
  { printNote }: Pick<CliContext, "printNote">,
  env: NodeJS.ProcessEnv = process.env,
): OpenedEndpoint {
  const chosenUrl = url ?? (env["PROVE_BASE_URL"] || undefined);
  // the key for OpenAI is sent only to an address that was chosen
  const openAiKey = chosenUrl === undefined ? undefined : env["OPENAI_API_KEY"];
  const usedKey = key ?? (env["PROVE_API_KEY"] || openAiKey || undefined);
  const endpoint = openEndpoint({
    ...choice,
    url: chosenUrl ?? localAddress,
    key: usedKey,
    concurrency,
  });
  const { hostname, origin, pathname, protocol } = endpoint.address;
  if (!isLoopback(hostname)) {
    printNote(
      `asking ${escapeInvisible(choice.model)} at ${escapeInvisible(origin + pathname)}, which is not on this machine: it is sent ${content}${usedKey === undefined ? "" : ", and your key"}`,
    );
    if (protocol === "http:")
      printNote(
        `  ${escapeInvisible(hostname)} uses plain http: anyone on the network path can read all of it${usedKey === undefined ? "" : ", including the key"}`,
      );
  }
  return { endpoint, concurrency };
}

/** What leaves the machine, by purpose. */
export const sentContent = {
  evaluation:
    "the conversations of the tasks, the schemas of the tools on offer and what the tools answer",
  graph: "the names, descriptions and schemas of the tools",
  synthesis:
    "what the users want, the names in the fixtures that are used, the schemas of the tools on offer and what the tools answer",
};

/** A fault of an endpoint as a `UserError`; any other error unchanged. */
export const toUserError = (error: unknown): unknown =>
  error instanceof EndpointFault
    ? new UserError(error.message, error.remedy, { cause: error })
    : error;

const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  host === "[::1]" ||
  /^127\.\d+\.\d+\.\d+$/.test(host);
