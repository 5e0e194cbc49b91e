/**
 * The state of the social network: profiles, follows, posts with likes and shares, and comments,
 * and the checks of what the user may see. Counts are computed, not stored.
 */
import { z } from "zod";
import { day, minute, id, label, phrase } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { createTableFactory } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const visibilities = ["public", "followers", "only_me"] as const;

const Profile = z.strictObject({
  name: z.string().min(1),
  handle: z.string().regex(/^[a-z0-9_]{2,30}$/),
  kind: z.enum(["person", "business"]),
  bio: z.string().optional(),
  city: z.string().optional(),
  link: z.string().optional(),
  /** Only followers see its posts and follows, and they must ask to follow. */
  private: z.boolean(),
  joined: day(),
  /** Profiles that it has blocked. */
  blocks: z.array(z.string()).optional(),
});

const Follow = z.strictObject({
  follower: z.string(),
  followed: z.string(),
  /** `requested`: a private profile has not answered yet. */
  status: z.enum(["following", "requested"]),
  since: day(),
});

const Post = z.strictObject({
  author: z.string(),
  at: minute(),
  text: z.string(),
  visibility: z.enum(visibilities),
  comments: z.enum(["open", "closed"]),
  /** `deleted`: the author has deleted it. */
  status: z.enum(["published", "deleted"]),
  likes: z.array(z.string()),
  /** The post that this one shares. */
  shared: z.string().optional(),
});

const Comment = z.strictObject({
  post_id: z.string(),
  by: z.string(),
  at: minute(),
  text: z.string().min(1),
});

export const references = {
  user: "profiles",
  "profiles.*.blocks.*": "profiles",
  "follows.*.follower": "profiles",
  "follows.*.followed": "profiles",
  "posts.*.author": "profiles",
  "posts.*.likes.*": "profiles",
  "posts.*.shared": "posts",
  "comments.*.post_id": "posts",
  "comments.*.by": "profiles",
} satisfies References;

export const SocialMediaState = z.strictObject({
  /** The profile of the person for whom the agent works. */
  user: z.string(),
  profiles: z.record(z.string(), Profile),
  follows: z.record(z.string(), Follow),
  posts: z.record(z.string(), Post),
  comments: z.record(z.string(), Comment),
});
export type SocialMediaState = z.infer<typeof SocialMediaState>;
type Profile = z.infer<typeof Profile>;
export type Post = z.infer<typeof Post>;

const table = createTableFactory(SocialMediaState);
const profileOptions = { entity: "profile", idsFrom: "social_media_search_users" } as const;
export const profiles = table("profiles", profileOptions);
/** Without the profiles that have blocked the user or that the user has blocked. */
export const reachableProfiles = table("profiles", { ...profileOptions, check: requireReachable });
/** Also without the private profiles that the user does not follow. */
export const visibleProfiles = table("profiles", { ...profileOptions, check: requireVisible });
/** Those that the user may see. */
export const posts = table("posts", {
  entity: "post",
  idsFrom: "social_media_get_feed or social_media_search_posts",
  hint: "social_media_search_posts and social_media_get_feed give the ids",
  check: requireVisiblePost,
});
export const follows = table("follows", {
  entity: "follow",
  idsFrom: "social_media_list_followers",
});
export const comments = table("comments", {
  entity: "comment",
  idsFrom: "social_media_get_post",
});

/** The follow between two profiles with its id, if there is one. */
export function findFollow(
  { follows }: SocialMediaState,
  follower: string,
  followed: string,
): [string, SocialMediaState["follows"][string]] | undefined {
  return Object.entries(follows).find(
    ([, it]) => it.follower === follower && it.followed === followed,
  );
}

export const isFollowing = (state: SocialMediaState, followed: string): boolean =>
  findFollow(state, state.user, followed)?.[1].status === "following";

const hasBlocked = (by: Profile, whom: string): boolean => by.blocks?.includes(whom) ?? false;

function requireReachable(profile: Profile, profileId: string, state: SocialMediaState): void {
  if (hasBlocked(profile, state.user))
    refuse(
      "permission_denied",
      `${profile.name} (@${profile.handle}) has blocked you`,
      "there is nothing that you can do about it here",
    );
  if (hasBlocked(state.profiles[state.user]!, profileId))
    refuse(
      "permission_denied",
      `you have blocked ${profile.name} (@${profile.handle})`,
      "unblock the profile in the settings of the app first",
    );
}

function requireVisible(profile: Profile, profileId: string, state: SocialMediaState): void {
  requireReachable(profile, profileId, state);
  if (!profile.private || profileId === state.user) return;
  const follow = findFollow(getOriginal(state), state.user, profileId)?.[1];
  if (follow?.status !== "following")
    refuse(
      "permission_denied",
      `the profile of ${profile.name} (@${profile.handle}) is private, and you do not follow it`,
      follow ? "your request waits for an answer" : "social_media_follow_user asks to follow it",
    );
}

/** Whether the user may see the post. */
export function canSee(state: SocialMediaState, { author, visibility, status }: Post): boolean {
  if (status === "deleted") return false;
  if (author === state.user) return true;
  const profile = state.profiles[author]!;
  if (
    visibility === "only_me" ||
    hasBlocked(profile, state.user) ||
    hasBlocked(state.profiles[state.user]!, author)
  )
    return false;
  return (visibility === "public" && !profile.private) || isFollowing(state, author);
}

function requireVisiblePost(
  { author, visibility, status }: Post,
  postId: string,
  state: SocialMediaState,
): void {
  if (author !== state.user) visibleProfiles.find(state, author);
  if (status === "deleted")
    refuse(
      "precondition_failed",
      author === state.user
        ? `${formatPost(state, postId)} was deleted by ${state.profiles[author]!.name}`
        : `post ${postId} was deleted by ${state.profiles[author]!.name}`,
      "choose another post",
    );
  if (author === state.user) return;
  if (visibility === "only_me")
    refuse("permission_denied", `post ${postId} is for ${state.profiles[author]!.name} alone`);
  if (visibility === "followers" && !isFollowing(getOriginal(state), author))
    refuse(
      "permission_denied",
      `post ${postId} is for the followers of ${state.profiles[author]!.name}, and you are not one`,
      "social_media_follow_user follows the profile",
    );
}

/** The post as text in messages. */
export const formatPost = (state: SocialMediaState, postId: string): string =>
  `the post "${getPostHeadline(state, state.posts[postId]!)}" (${postId})`;

/** The label of a post; a share without words has that of the original, if the user may see it. */
function getPostHeadline(state: SocialMediaState, { text, shared }: Post): string {
  const original = shared === undefined ? undefined : state.posts[shared]!;
  return getHeadline(text || (original && canSee(state, original) ? original.text : ""));
}

/** The label of a post: its first sentence, without hashtags. */
export function getHeadline(text: string): string {
  const first = text
    .split(/(?<=[.!?])\s|\s#/)[0]!
    .trim()
    .replace(/[.!]$/, "");
  return (first.startsWith("#") ? text : first).slice(0, 120) || "a post without words";
}

export const listHashtags = (text: string): string[] =>
  [...new Set([...text.matchAll(/#([\p{L}\d_]+)/gu)].map(it => it[1]!.toLowerCase()))].slice(0, 10);

/** The text of a post with that of the post that it shares. */
export const getFullText = ({ posts }: SocialMediaState, { text, shared }: Post): string =>
  shared === undefined ? text : `${text} ${posts[shared]!.text}`;

/** False if the post shares one that the user cannot see any more. */
export const isOriginalVisible = (state: SocialMediaState, { shared }: Post): boolean =>
  shared === undefined || canSee(state, state.posts[shared]!);

/** The text of a post with that of the post that it shares, if the user can see that one. */
export const getVisibleText = (state: SocialMediaState, post: Post): string =>
  isOriginalVisible(state, post) ? getFullText(state, post) : post.text;

export const countShares = (state: SocialMediaState, postId: string): number =>
  Object.values(getOriginal(state).posts).filter(
    it => it.shared === postId && it.status === "published",
  ).length;

/** How many follow a profile, or have asked to. */
export const countFollowers = (
  state: SocialMediaState,
  profileId: string,
  status: "following" | "requested" = "following",
): number =>
  Object.values(getOriginal(state).follows).filter(
    it => it.followed === profileId && it.status === status,
  ).length;

/** Counts posts and shares within the last hour. */
export const maxPostsPerHour = 4;

/** Refuses the call if the user has made the most posts allowed in an hour. */
export function requirePostRate({ user, posts }: SocialMediaState, now: string): void {
  const hourAgo = addMinutes(now, -60);
  const recent = Object.values(posts).filter(it => it.author === user && it.at > hourAgo);
  if (recent.length < maxPostsPerHour) return;
  const first = recent.map(it => it.at).sort()[0]!;
  refuse(
    "limit_exceeded",
    `you have posted ${recent.length} times since ${first}, and the network takes ${maxPostsPerHour} posts an hour`,
    "wait for an hour to pass",
  );
}

/** A hashtag is identified by its text. */
export const hashtag = () => label("hashtag").max(60);
export const newComment = phrase(1, 280).meta({ examples: vocabulary.comments });

export const profileRow = profiles.fields({
  name: label("profile"),
  profile_id: profiles.idField,
  handle: z.string(),
});
export const postLabel = posts.fields({
  post: [label("post"), (it, { world }) => getPostHeadline(world, it)],
  post_id: posts.idField,
});
export const postRow = posts.fields({
  ...postLabel,
  author: [label("profile"), (it, { world }) => world.profiles[it.author]!.name],
  author_id: [id("profile"), it => it.author],
  at: minute(),
});
