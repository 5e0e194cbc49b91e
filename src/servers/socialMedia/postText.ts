/** The text of a post including the post that it shares, and whether that one is visible. */
import { type SocialMediaState, canSee, type Post } from "./state.ts";

export const getFullText = ({ posts }: SocialMediaState, { text, shared }: Post): string =>
  shared === undefined ? text : `${text} ${posts[shared]!.text}`;

/** False if the post shares one that the user cannot see any more. */
export const isOriginalVisible = (state: SocialMediaState, { shared }: Post): boolean =>
  shared === undefined || canSee(state, state.posts[shared]!);
