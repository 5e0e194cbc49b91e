/**
 * Why an endpoint gave no answer. A fault contains nothing of the request, and of the response only
 * a short excerpt.
 */
import { PolicyFault } from "./policy.ts";

/**
 * `unreachable`: the connection failed. `timed-out`: no complete answer in time. `overloaded`: 429,
 * 408, 425 or 5xx. `declined`: another status that is not a success. `redirected`: a redirect,
 * which is not followed. `not-json`: text, a web page or incomplete JSON. `not-a-completion`: JSON
 * without a message. `withheld`: blocked by the endpoint's content filter. `spent`: the token
 * budget is used up.
 */
export type EndpointFaultKind =
  | "unreachable"
  | "timed-out"
  | "overloaded"
  | "declined"
  | "redirected"
  | "not-json"
  | "not-a-completion"
  | "withheld"
  | "spent";

interface FaultDetails {
  readonly status?: number;
  readonly isRetryable?: boolean;
  readonly pause?: number | undefined;
  readonly cause?: unknown;
}

export class EndpointFault extends PolicyFault {
  readonly kind: EndpointFaultKind;
  /** What the user can do about it. */
  readonly remedy: string;
  /** The HTTP status, if the endpoint answered with one that is not a success. */
  readonly status: number | undefined;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** Milliseconds that the endpoint asks to wait. */
  readonly pause: number | undefined;

  constructor(
    kind: EndpointFaultKind,
    what: string,
    remedy: string,
    { status, isRetryable = false, pause, cause }: FaultDetails = {},
  ) {
    super(what, cause === undefined ? {} : { cause });
    this.kind = kind;
    this.remedy = remedy;
    this.status = status;
    this.isRetryable = isRetryable;
    this.pause = pause;
  }

  /** Whether every later request would fail too. */
  get isPermanent(): boolean {
    return (
      this.kind === "redirected" ||
      this.kind === "spent" ||
      this.status === 401 ||
      this.status === 403 ||
      this.status === 404
    );
  }
}

/** The first characters of a text from outside, on one line and without control characters. */
export function excerptText(text: string, length = 160): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return plain.length > length
    ? `${plain.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`
    : plain;
}
