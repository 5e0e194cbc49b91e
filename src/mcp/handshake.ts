/** Agrees with a server on a version of the protocol: one with a handshake, or one without. */
import {
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import { version } from "../version.ts";
import { ReplyError, TimeoutError, type RpcClient } from "./rpcClient.ts";
import {
  completeParams,
  createHeaders,
  discoverMethod,
  readServerInfo,
  statelessVersion,
} from "./statelessProtocol.ts";

/** What a server says that it is. */
export interface ServerInfo {
  readonly name?: string;
  readonly version?: string;
}

interface Agreement {
  readonly capabilities: Json | undefined;
  readonly info: ServerInfo;
  readonly isStateless: boolean;
}

interface AgreeOptions {
  readonly isHttp: boolean;
  /** In milliseconds. */
  readonly timeout: number;
  /** Told the version of a handshake. */
  readonly onVersion: (version: string) => void;
  readonly getInputSchema: (tool: string) => JsonObject | undefined;
}

/** How long a server at an address may take for a question that older ones do not know. */
const maxProbeTime = 10_000;

/**
 * Over HTTP, asks first for the version without a handshake, as the protocol says. A process is
 * offered the handshake first, because older ones may end at a message before it. Throws what the
 * server says about the handshake if it knows neither.
 */
export async function agreeOnProtocol(
  client: RpcClient,
  options: AgreeOptions,
): Promise<Agreement> {
  if (options.isHttp) {
    const timeout = Math.min(options.timeout, maxProbeTime);
    return (await discover(client, { ...options, timeout })) ?? (await initialize(client, options));
  }
  try {
    return await initialize(client, options);
  } catch (refusal) {
    const agreement = refusal instanceof ReplyError ? await discover(client, options) : undefined;
    if (!agreement) throw refusal;
    return agreement;
  }
}

/** Undefined if the server does not know the version. */
async function discover(
  client: RpcClient,
  { timeout, getInputSchema }: AgreeOptions,
): Promise<Agreement | undefined> {
  const { complete } = client;
  client.complete = (method, params) => ({
    params: completeParams(params),
    headers: createHeaders(method, params, getInputSchema),
  });
  const ask = () =>
    client.request(discoverMethod, "{}", timeout).catch((error: Error) => {
      if (error instanceof ReplyError || error instanceof TimeoutError) return error;
      throw error;
    });
  let result = await ask();
  // part of a service may be older than the rest
  if (result instanceof ReplyError && namesVersion(result)) result = await ask();
  const { supportedVersions: versions, capabilities } = isJsonObject(result) ? result : {};
  if (Array.isArray(versions) && versions.includes(statelessVersion))
    return { capabilities, info: readInfo(readServerInfo(result as Json)), isStateless: true };
  client.complete = complete;
  return undefined;
}

/** Whether a server that refuses the version names it among those that it knows. */
function namesVersion({ data }: ReplyError): boolean {
  const supported = isJsonObject(data) ? data["supported"] : undefined;
  return Array.isArray(supported) && supported.includes(statelessVersion);
}

async function initialize(
  client: RpcClient,
  { timeout, onVersion }: AgreeOptions,
): Promise<Agreement> {
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: "prove", version },
  };
  const result = await client.request("initialize", JSON.stringify(params), timeout);
  if (!isJsonObject(result)) throw new Error("its answer to initialize is not an object");
  const { protocolVersion, capabilities, serverInfo } = result;
  if (typeof protocolVersion === "string") {
    if (!SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion))
      throw new Error(`its version of the protocol is ${protocolVersion}`);
    onVersion(protocolVersion);
  }
  await client.notify("notifications/initialized", timeout);
  return { capabilities, info: readInfo(serverInfo), isStateless: false };
}

function readInfo(value: Json | undefined): ServerInfo {
  const { name, version: own } = isJsonObject(value) ? value : {};
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof own === "string" ? { version: own } : {}),
  };
}
