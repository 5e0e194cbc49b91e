/**
 * The other processes of a service, each with a part of its sessions. The hash of a session's id
 * says which process has it.
 */
import type { JsonResponse } from "./jsonBody.ts";
import { decodeSegment } from "./route.ts";

/** A request that one process passes to another. */
export interface PeerRequest {
  readonly method: string;
  /** The path with the query, or the name of a request that only processes of the service send. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
  /** Executing it twice has the effect of executing it once. */
  readonly isRepeatable: boolean;
}

export interface PeerResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8. */
  readonly body: Uint8Array;
}

export interface Peers {
  /** Whether this process has the sessions with that id. */
  isOwn(id: string): boolean;
  /** An index of the process that has the sessions with that id. */
  findIndex(id: string): number;
  /** Passes a request to a process. Rejects with an `HttpError` if the process does not answer. */
  send(index: number, request: PeerRequest): Promise<PeerResponse>;
  /** Passes a request to all other processes. */
  sendToOthers(request: PeerRequest): Promise<readonly PeerResponse[]>;
  /** Asks for room for more sessions in this process. Resolves with whether there is any. */
  requestRoom(): Promise<boolean>;
}

/** Asks a process for its `Use`. */
export const statsRequest: PeerRequest = { method: "GET", url: "stats", isRepeatable: false };

/** Asks a process for its metrics. */
export const metricsRequest: PeerRequest = { method: "GET", url: "metrics", isRepeatable: false };

/** FNV-1a. Ids are random, so that any hash spreads them evenly. */
export function findProcessIndex(id: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % count;
}

/** The session that a path names; undefined for a path without a session, or whose id is none. */
export function findSessionInPath(url: string): string | undefined {
  const segment = /^\/(?:v1\/sessions|s)\/([^/?]+)/.exec(url)?.[1];
  const id = segment === undefined ? undefined : decodeSegment(segment);
  return id !== undefined && /^[A-Za-z0-9_-]{22,128}$/.test(id) ? id : undefined;
}

export const parsePeerJson = ({ body }: PeerResponse): unknown =>
  JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"));

export const toJsonResponse = ({ status, body }: PeerResponse): JsonResponse => ({
  status,
  text: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"),
});
