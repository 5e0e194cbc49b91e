/**
 * Work on many parts of a request in slices, between which the service answers other requests, and
 * the most that an answer may contain.
 */
import { HttpError } from "./httpError.ts";

const sliceMs = 20;

/** The most bytes of the results in the answer to one request. */
export const maxAnswerBytes = 64 * 2 ** 20;

/**
 * A function to call before each part of the work. Returns what to wait for where a slice is over.
 */
export function startSlices(): () => Promise<void> | undefined {
  let end = performance.now() + sliceMs;
  return () =>
    performance.now() < end
      ? undefined
      : new Promise(resolve =>
          setImmediate(() => {
            end = performance.now() + sliceMs;
            resolve();
          }),
        );
}

/** The error of a part of a request that was left out because the answer is full. */
export const createAnswerTooLargeError = (part: string): HttpError =>
  new HttpError(
    "TOO_LARGE",
    `the answer has reached ${maxAnswerBytes / 2 ** 20} MB, and ${part} was not executed`,
    "send it again in another request",
  );
