/**
 * Why an endpoint gave no answer, by kind and in words. Holds nothing of what was sent; what came
 * back only in a short, plain excerpt.
 */
import { PolicyFault } from "./policy.ts";

/**
 * `unreachable`: nobody answers there. `timed-out`: no whole answer in time. `overloaded`: 429, 408
 * or 5xx, again and again. `declined`: another status that is no success. `redirected`: it points
 * elsewhere, where nothing is sent. `not-json`: prose, a page or half a JSON. `not-a-completion`:
 * JSON without a message in it. `withheld`: kept back by the endpoint's own filter. `spent`: the
 * token budget is used up.
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
  /** What a person can do about it. */
  readonly remedy: string;
  /** The endpoint's status, where it answered with one that is no success. */
  readonly status: number | undefined;
  /** The same request may be answered if it is made again. */
  readonly isRetryable: boolean;
  /** Milliseconds that the endpoint asks to be left alone. */
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

  /** Asking the same again will not help, whatever is asked. */
  get isLasting(): boolean {
    return (
      this.kind === "redirected" ||
      this.kind === "spent" ||
      this.status === 401 ||
      this.status === 403 ||
      this.status === 404
    );
  }
}

/**
 * The first characters of a text from outside, on one line, with what a terminal would act on taken
 * out.
 */
export function excerptText(text: string, length = 160): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return plain.length > length
    ? `${plain.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`
    : plain;
}
