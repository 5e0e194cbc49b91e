/** Resolved paths, and how a path is written in results and messages. */
import type { Directory } from "./state.ts";
import type { Entry } from "./state.ts";
import type { FilesystemState } from "./state.ts";

/** A path with links resolved. Its parent directory exists; the entry may not. */
export interface ResolvedPath {
  /** The path as the caller wrote it, for messages. */
  readonly input: string;
  /** Names from the root; empty for the root itself. */
  readonly segments: readonly string[];
  /** The parent directory; the root is its own parent. */
  readonly parent: Directory;
  readonly entry: Entry | undefined;
}

/** A path at which there is an entry. */
export type ExistingPath<T extends Entry = Entry> = ResolvedPath & { readonly entry: T };

export const joinSegments = (segments: readonly string[]) => `/${segments.join("/")}`;

/** A path as tools return it: `~/…` below the home, otherwise absolute. */
export function formatPath(state: FilesystemState, at: readonly string[] | string): string {
  const path = typeof at === "string" ? at : joinSegments(at);
  const { home } = state.users[state.user]!;
  return path === home ? "~" : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** A text of the caller for a message, truncated if long. */
export const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 77)}…` : text);
