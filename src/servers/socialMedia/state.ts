/**
 * A social network as one of its members sees it: profiles, who follows whom, posts with likes and
 * shares, comments; who may see what. Counts are always counted.
 */
import { z } from "zod";
import { day, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";

export const visibilities = ["public", "followers", "only_me"] as const;

const Profile = z.strictObject({
  name: z.string().min(1),
  handle: z.string().regex(/^[a-z0-9_]{2,30}$/),
  kind: z.enum(["person", "business"]),
  bio: z.string().optional(),
  city: z.string().optional(),
  link: z.string().optional(),
  /** Only its followers see its posts and whom it knows, and they must ask first. */
  private: z.boolean(),
  joined: day(),
  /** Profiles that it will not have to do with. */
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
  /** `deleted`: the author has taken it down. */
  status: z.enum(["published", "deleted"]),
  likes: z.array(z.string()),
  /** The post that this one passes on. */
  shared: z.string().optional(),
});

const Comment = z.strictObject({
  post_id: z.string(),
  by: z.string(),
  at: minute(),
  text: z.string().min(1),
});

export const Network = z
  .strictObject({
    /** The profile of the person whom the agent works for. */
    user: z.string(),
    profiles: z.record(z.string(), Profile),
    follows: z.record(z.string(), Follow),
    posts: z.record(z.string(), Post),
    comments: z.record(z.string(), Comment),
  })
  .superRefine((network, context) => {
    for (const [path, message] of danglingReferences(network))
      context.addIssue({ code: "custom", path, message });
  });
export type Network = z.infer<typeof Network>;
export type Profile = z.infer<typeof Profile>;
export type Post = z.infer<typeof Post>;

/** Where a row names another that does not exist. */
function* danglingReferences({
  user,
  profiles,
  follows,
  posts,
  comments,
}: Pick<Network, "user" | "profiles" | "follows" | "posts" | "comments">): Generator<
  [string[], string]
> {
  const stranger = (key: string) => !Object.hasOwn(profiles, key);
  if (stranger(user)) yield [["user"], `there is no profile ${user}`];
  for (const [key, it] of Object.entries(profiles))
    for (const who of it.blocks ?? [])
      if (stranger(who)) yield [["profiles", key, "blocks"], `there is no profile ${who}`];
  for (const [key, it] of Object.entries(follows))
    for (const who of [it.follower, it.followed])
      if (stranger(who)) yield [["follows", key], `there is no profile ${who}`];
  for (const [key, it] of Object.entries(posts)) {
    for (const who of [it.author, ...it.likes])
      if (stranger(who)) yield [["posts", key], `there is no profile ${who}`];
    if (it.shared !== undefined && !Object.hasOwn(posts, it.shared))
      yield [["posts", key, "shared"], `there is no post ${it.shared}`];
  }
  for (const [key, it] of Object.entries(comments)) {
    if (!Object.hasOwn(posts, it.post_id))
      yield [["comments", key, "post_id"], `there is no post ${it.post_id}`];
    if (stranger(it.by)) yield [["comments", key, "by"], `there is no profile ${it.by}`];
  }
}

export const profileOf = (network: Network, profileId: string): Profile =>
  findEntity(network.profiles, profileId, "profile", "social_media_search_users gives the ids");

/** How one profile follows another, by id of the follow, if it does. */
export function followOf(
  { follows }: Network,
  follower: string,
  followed: string,
): [string, Network["follows"][string]] | undefined {
  return Object.entries(follows).find(
    ([, it]) => it.follower === follower && it.followed === followed,
  );
}

export const isFollowing = (network: Network, followed: string): boolean =>
  followOf(network, network.user, followed)?.[1].status === "following";

const blocked = (by: Profile, whom: string): boolean => by.blocks?.includes(whom) ?? false;

/** The profile, if neither it nor the user has blocked the other. */
export function reachable(network: Network, profileId: string): Profile {
  const profile = profileOf(network, profileId);
  if (blocked(profile, network.user))
    refuse(
      "permission_denied",
      `${profile.name} (@${profile.handle}) has blocked you`,
      "there is nothing that you can do about it here",
    );
  if (blocked(network.profiles[network.user]!, profileId))
    refuse(
      "permission_denied",
      `you have blocked ${profile.name} (@${profile.handle})`,
      "unblock the profile in the settings of the app first",
    );
  return profile;
}

/** As `reachable`, for what a private profile shows to its followers alone. */
export function openTo(network: Network, profileId: string): Profile {
  const profile = reachable(network, profileId);
  if (
    !profile.private ||
    profileId === network.user ||
    isFollowing(getOriginal(network), profileId)
  )
    return profile;
  const isAsked = followOf(getOriginal(network), network.user, profileId) !== undefined;
  return refuse(
    "permission_denied",
    `the profile of ${profile.name} (@${profile.handle}) is private, and you do not follow it`,
    isAsked ? "your request waits for an answer" : "social_media_follow_user asks to follow it",
  );
}

/** Whether the user may see the post at all. */
export function canSee(network: Network, { author, visibility, status }: Post): boolean {
  if (status === "deleted") return false;
  if (author === network.user) return true;
  const profile = network.profiles[author]!;
  if (
    visibility === "only_me" ||
    blocked(profile, network.user) ||
    blocked(network.profiles[network.user]!, author)
  )
    return false;
  return (visibility === "public" && !profile.private) || isFollowing(network, author);
}

/** The post, if the user may see it; otherwise says why not. */
export function postOf(network: Network, postId: string): Post {
  const post = findEntity(
    network.posts,
    postId,
    "post",
    "social_media_search_posts and social_media_get_feed give the ids",
  );
  const { author, visibility, status } = post;
  if (author !== network.user) openTo(network, author);
  if (status === "deleted")
    refuse(
      "precondition_failed",
      `${named(network, postId)} was deleted by ${network.profiles[author]!.name}`,
      "choose another post",
    );
  if (author === network.user) return post;
  if (visibility === "only_me")
    refuse(
      "permission_denied",
      `${named(network, postId)} is for ${network.profiles[author]!.name} alone`,
    );
  if (visibility === "followers" && !isFollowing(getOriginal(network), author))
    refuse(
      "permission_denied",
      `${named(network, postId)} is for the followers of ${network.profiles[author]!.name}, and you are not one`,
      "social_media_follow_user follows the profile",
    );
  return post;
}

/** A post as messages name it. */
export function named({ posts }: Network, postId: string): string {
  const { text, shared } = posts[postId]!;
  return `the post "${headline(text || posts[shared!]!.text)}" (${postId})`;
}

/** By what people name a post: its first sentence, without hashtags. */
export function headline(text: string): string {
  const first = text
    .split(/(?<=[.!?])\s|\s#/)[0]!
    .trim()
    .replace(/[.!]$/, "");
  return (first.startsWith("#") ? text : first).slice(0, 120) || "a post without words";
}

export const hashtagsIn = (text: string): string[] =>
  [...new Set([...text.matchAll(/#([\p{L}\d_]+)/gu)].map(it => it[1]!.toLowerCase()))].slice(0, 10);

/** Newest first. */
export const byTime = (
  [a, x]: [string, { at: string }],
  [b, y]: [string, { at: string }],
): number => (x.at === y.at ? (a < b ? 1 : -1) : x.at < y.at ? 1 : -1);

/** Of posts and shares, within the hour before. */
const mostPosts = 4;

/** Turns down more posts than the network takes in an hour. */
export function notTooFast({ user, posts }: Network, now: string): void {
  const hourAgo = addMinutes(now, -60);
  const recent = Object.values(posts).filter(it => it.author === user && it.at > hourAgo);
  if (recent.length < mostPosts) return;
  const first = recent.map(it => it.at).sort()[0]!;
  refuse(
    "limit_exceeded",
    `you have posted ${recent.length} times since ${first}, and the network takes ${mostPosts} posts an hour`,
    "wait for an hour to pass",
  );
}
