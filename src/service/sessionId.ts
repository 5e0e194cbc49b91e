/**
 * Creates and checks session ids. Anyone who knows an id can act in its session, so ids must be
 * impossible to guess.
 */
import { randomBytes } from "node:crypto";

/** An id of 128 random bits. */
export const createSessionId = (): string => randomBytes(16).toString("base64url");

/** Why a text cannot be a session id, or undefined. */
export function findSessionIdProblem(id: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{22,128}$/.test(id))
    return "a session id is 22 to 128 letters, digits, _ or -";
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
    return "a UUID has 122 random bits, and a session id needs 128";
  const bitsPerCharacter = /^\d+$/.test(id) ? Math.log2(10) : /^[0-9a-f]+$/i.test(id) ? 4 : 6;
  return id.length * bitsPerCharacter < 128 || new Set(id).size < 8
    ? "a session id needs at least 128 random bits"
    : undefined;
}
