/**
 * The social media server: a social network, as one member sees it. Also its rules, which hold
 * whichever tools are used.
 */
import { isSameJson } from "../../environment/invariants.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import { minutesBetween } from "../../environment/time.ts";
import { maxPendingRequests, followTools, profileTools } from "./profileTools.ts";
import {
  canSee,
  isFollowing,
  maxPostsPerHour,
  type Post,
  SocialMediaState,
  references,
} from "./state.ts";
import { responseTools, postQueries, postCommands } from "./postTools.ts";

/** The rows of a table that the write added. */
const listAdded = <T>(table: Record<string, T>, before: Record<string, T> | undefined) =>
  before ? Object.entries(table).filter(([id]) => !Object.hasOwn(before, id)) : [];

/** Whether the user may turn a post into this one. */
function canChangePost(after: Post | undefined, before: Post, user: string): boolean {
  if (after === before) return true;
  if (!after || before.status === "deleted") return isSameJson(after, before);
  const { likes, status, ...content } = after;
  const { likes: likesBefore, status: _, ...contentBefore } = before;
  return (
    isSameJson(content, contentBefore) &&
    (isSameJson(likes, likesBefore) || isSameJson(likes, [...likesBefore, user])) &&
    (status === "published" || before.author === user)
  );
}

const invariants: readonly Invariant<SocialMediaState>[] = [
  {
    rule: "Only the user's own profile changes, and not its name, handle or blocks.",
    findViolation({ profiles, user }, before) {
      const getIdentity = ({
        name,
        handle,
        kind,
        joined,
        blocks,
      }: SocialMediaState["profiles"][string]) => ({
        name,
        handle,
        kind,
        joined,
        blocks,
      });
      return Object.entries(before?.profiles ?? {}).find(([id, it]) =>
        id === user
          ? !isSameJson(getIdentity(profiles[id]!), getIdentity(it))
          : !isSameJson(profiles[id], it),
      )?.[0];
    },
  },
  {
    rule: "A post is not rewritten; others only gain the user's like, and a deleted one stays as it is.",
    findViolation: ({ posts, user }, before) =>
      Object.entries(before?.posts ?? {}).find(
        ([id, it]) => !canChangePost(posts[id], it, user),
      )?.[0],
  },
  {
    rule: `The user posts and shares at most ${maxPostsPerHour} times an hour, deleted posts among them.`,
    findViolation({ posts, user }) {
      const times = Object.values(posts)
        .filter(it => it.author === user)
        .map(it => it.at)
        .sort();
      const i = times.findIndex(
        (at, i) => i >= maxPostsPerHour && minutesBetween(times[i - maxPostsPerHour]!, at) < 60,
      );
      return i < 0 ? undefined : `the post of ${times[i]} is one too many`;
    },
  },
  {
    rule: "New posts are the user's, and share only what a public profile has posted for everybody.",
    findViolation({ posts, profiles, user }, before) {
      const forbidden = listAdded(posts, before?.posts).find(([, it]) => {
        const original = it.shared === undefined ? undefined : posts[it.shared]!;
        return (
          it.author !== user ||
          it.likes.length > 0 ||
          (original &&
            (original.author === user ||
              original.visibility !== "public" ||
              original.status === "deleted" ||
              original.shared !== undefined ||
              profiles[original.author]!.private))
        );
      });
      return forbidden?.[0];
    },
  },
  {
    rule: "The user likes, comments on and shares only posts that they may see.",
    findViolation({ posts, comments, user }, before) {
      if (!before) return undefined;
      const liked = Object.keys(before.posts).filter(
        id => posts[id]?.likes.includes(user) && !before.posts[id]!.likes.includes(user),
      );
      const targets = [
        ...liked,
        ...listAdded(comments, before.comments).map(([, it]) => it.post_id),
        ...listAdded(posts, before.posts).flatMap(([, it]) => it.shared ?? []),
      ];
      return targets.find(id => !canSee(before, before.posts[id]!));
    },
  },
  {
    rule: "A profile likes a post once, and the user shares it once.",
    findViolation({ posts, user }) {
      const twice = Object.entries(posts).find(
        ([, { likes }]) => new Set(likes).size < likes.length,
      );
      if (twice) return twice[0];
      const shared = Object.values(posts).flatMap(it =>
        it.author === user && it.status === "published" ? (it.shared ?? []) : [],
      );
      return shared.find((it, i) => shared.indexOf(it) !== i);
    },
  },
  {
    rule: "Comments are kept, and new ones are the user's, under posts that are open for comments.",
    findViolation({ comments, posts, user }, before) {
      const changed = Object.entries(before?.comments ?? {}).find(
        ([id, it]) => !isSameJson(comments[id], it),
      );
      const forbidden = listAdded(comments, before?.comments).find(
        ([, it]) => it.by !== user || posts[it.post_id]!.comments === "closed",
      );
      return changed?.[0] ?? forbidden?.[0];
    },
  },
  {
    rule: "The user follows public profiles, asks private ones, and never one behind a block.",
    findViolation(state, before) {
      const { follows, profiles, user } = state;
      const forbidden = listAdded(follows, before?.follows).find(
        ([, { follower, followed, status }]) => {
          const isBlocked =
            profiles[followed]!.blocks?.includes(user) ||
            profiles[user]!.blocks?.includes(followed);
          return (
            follower !== user ||
            isBlocked ||
            status !== (profiles[followed]!.private ? "requested" : "following")
          );
        },
      );
      return forbidden?.[0];
    },
  },
  {
    rule: "A request is granted by the profile that is asked, and others keep their follows.",
    findViolation({ follows, profiles, user }, before) {
      const changed = Object.entries(before?.follows ?? {}).find(([id, it]) => {
        const after = follows[id];
        if (!after) return it.follower !== user;
        if (isSameJson(after, it)) return false;
        const isGranted =
          it.status === "requested" && isSameJson(after, { ...it, status: "following" });
        return !isGranted || it.followed !== user || profiles[user]!.private;
      });
      return changed?.[0];
    },
  },
  {
    rule: `Nobody follows a profile twice or themselves; at most ${maxPendingRequests} of the user's requests wait.`,
    findViolation(state) {
      const pairs = Object.values(state.follows).map(it => `${it.follower} ${it.followed}`);
      const waiting = Object.values(state.follows).filter(
        it => it.follower === state.user && it.status === "requested",
      );
      if (waiting.length > maxPendingRequests) return `${waiting.length} requests wait`;
      if (isFollowing(state, state.user)) return "the user follows themselves";
      return pairs.find((it, i) => pairs.indexOf(it) !== i);
    },
  },
];

export const server = defineServer({
  name: "social_media",
  category: "Social/Comm.",
  summary: "profiles, follows and requests, posts with likes, comments and shares, the feed",
  schema: SocialMediaState,
  references,
  invariants,
  tools: {
    ...profileTools,
    ...followTools,
    ...postCommands,
    ...postQueries,
    ...responseTools,
  },
});
