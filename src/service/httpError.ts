/** The error of a request: a status, a code and a message, in one format for all routes. */

const statuses = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  UNKNOWN_SESSION: 404,
  UNKNOWN_TASK: 404,
  UNKNOWN_SERVER: 404,
  UNKNOWN_ROUTE: 404,
  METHOD_NOT_ALLOWED: 405,
  OUT_OF_ORDER: 409,
  TOO_LARGE: 413,
  NOT_JSON: 415,
  INTERNAL: 500,
  CAPACITY_REACHED: 503,
} as const;

export type HttpErrorCode = keyof typeof statuses;

/** Thrown to refuse a request; the response is `{"error":{"code","message"}}`. */
export class HttpError extends Error {
  readonly code: HttpErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: HttpErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return statuses[this.code];
  }

  /** The body of the response. */
  get text(): string {
    return JSON.stringify({ error: { code: this.code, message: this.message } });
  }
}
