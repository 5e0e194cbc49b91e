/**
 * Opens an OpenAI-compatible endpoint. A key that is not given comes from the environment. Before
 * anything leaves the machine, a note says what is sent where.
 */
import { UserError } from "../userError.ts";
import { openEndpoint, type Endpoint, type EndpointOptions } from "../policy/endpoint.ts";
import { EndpointFault } from "../policy/endpointFormat.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { AppContext } from "./context.ts";

export const localAddress = "http://127.0.0.1:8000/v1";

interface OpenedEndpoint {
  readonly endpoint: Endpoint;
  readonly concurrency: number;
}

/** A model of an endpoint. An address that is left out comes from the environment. */
export type EndpointChoice = Omit<EndpointOptions, "url" | "timeout" | "time"> & {
  readonly url?: string | undefined;
};

/** The address and the limits of an endpoint, without a model. */
export type EndpointSettings = Omit<EndpointChoice, "model" | "key">;

/**
 * Opens the endpoint. If it is not on this machine, a note names its address and what is sent to
 * it.
 */
export function openEndpointFor(
  { url, key, concurrency = 8, ...choice }: EndpointChoice,
  content: string,
  { printNote }: Pick<AppContext, "printNote">,
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
