/** The text of a post, and whether a shared post can still be seen. */
import { type Network, canSee, type Post } from "./state.ts";

/** Words of the post, or of the one that it passes on. */
export const wordsOf = ({ posts }: Network, { text, shared }: Post): string =>
  shared === undefined ? text : `${text} ${posts[shared]!.text}`;

/** False of a share whose post the user cannot see any more. */
export const showsSomething = (network: Network, { shared }: Post): boolean =>
  shared === undefined || canSee(network, network.posts[shared]!);
