/** The error of a request: a status, a code and a message, in one format for all routes. */
import { UserError } from "../userError.ts";

const statuses = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  UNKNOWN_SESSION: 404,
  UNKNOWN_TASK: 404,
  UNKNOWN_SERVER: 404,
  UNKNOWN_ROUTE: 404,
  UNKNOWN_MODEL: 404,
  METHOD_NOT_ALLOWED: 405,
  OUT_OF_ORDER: 409,
  ENDED: 409,
  TOO_LARGE: 413,
  NOT_JSON: 415,
  INTERNAL: 500,
  POLICY_FAILED: 502,
  CAPACITY_REACHED: 503,
  DRAINING: 503,
  UNAVAILABLE: 503,
} as const;

export type HttpErrorCode = keyof typeof statuses;

export const httpErrorCodes = Object.keys(statuses) as readonly HttpErrorCode[];

/** Thrown to refuse a request: what happened, to what, and what the client can do. */
export class HttpError extends UserError {
  readonly code: HttpErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: HttpErrorCode,
    what: string,
    remedy: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(what, remedy);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return statuses[this.code];
  }

  /** The body of the response. */
  get body() {
    const { code, message } = this;
    return { error: { code, message } };
  }

  get text(): string {
    return JSON.stringify(this.body);
  }
}

/** The error that the client receives. A bug is reported to `onBug` and not described. */
export function describeError(
  error: unknown,
  onBug: ((error: unknown) => void) | undefined,
): HttpError {
  const known = toHttpError(error);
  if (known) return known;
  onBug?.(error);
  return new HttpError(
    "INTERNAL",
    "the service has a fault, and the call is not to be scored",
    "report it with what the service printed",
  );
}

/** The error that the client receives; undefined for a bug, which is not described to clients. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  return error instanceof UserError
    ? new HttpError("INVALID_REQUEST", error.what, error.remedy)
    : undefined;
}
