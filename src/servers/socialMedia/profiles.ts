/**
 * The network's tools for people: profiles, the user's own among them, who follows whom, and
 * following itself.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { given, limit, profileId } from "./words.ts";
import {
  byTime,
  canSee,
  followOf,
  headline,
  Network,
  openTo,
  profileOf,
  reachable,
  type Profile,
} from "./state.ts";

const tool = createToolFactory(Network);

const mostRequests = 5;
const shownPosts = 4;

const profileRow = { name: label("profile"), profile_id: id("profile"), handle: z.string() };
const rowOf = ({ profiles }: Network, profile_id: string) => ({
  name: profiles[profile_id]!.name,
  profile_id,
  handle: profiles[profile_id]!.handle,
});
const standing = z
  .enum(["following", "requested", "none"])
  .describe("How the user stands to the profile");
const standingOf = (network: Network, profileKey: string): z.infer<typeof standing> =>
  followOf(network, network.user, profileKey)?.[1].status ?? "none";

export const profiles = {
  get_profile: tool({
    effect: "read",
    summary:
      "Get one profile in full: what it says about itself, how many follow it, how the user stands to it, and its latest posts as far as the user may see them.",
    input: { profile_id: profileId },
    returns: {
      ...profileRow,
      kind: z.string(),
      bio: z.string().optional(),
      city: z.string().optional(),
      link: z.string().optional(),
      private: z.boolean(),
      joined: day(),
      followers: z.int(),
      following: z.int(),
      posts: z.int().describe("Posts that the user may see"),
      you: standing,
      requests: z
        .int()
        .optional()
        .describe("On the user's own profile: how many have asked to follow it"),
      latest_posts: z
        .array(z.object({ post: label("post"), post_id: id("post"), at: minute() }))
        .optional(),
    },
    run(network, { profile_id }) {
      const it = reachable(network, profile_id);
      const follows = Object.values(network.follows).filter(
        of => of.followed === profile_id || of.follower === profile_id,
      );
      const count = (key: "followed" | "follower", status = "following") =>
        follows.filter(of => of[key] === profile_id && of.status === status).length;
      const posts = Object.entries(network.posts)
        .filter(([, post]) => post.author === profile_id && canSee(network, post))
        .sort(byTime);
      const latest = posts.slice(0, shownPosts).map(([post_id, post]) => ({
        post: headline(post.text || network.posts[post.shared!]!.text),
        post_id,
        at: post.at,
      }));
      return given({
        ...rowOf(network, profile_id),
        kind: it.kind,
        bio: it.bio,
        city: it.city,
        link: it.link,
        private: it.private,
        joined: it.joined,
        followers: count("followed"),
        following: count("follower"),
        posts: posts.length,
        you: standingOf(network, profile_id),
        requests: profile_id === network.user ? count("followed", "requested") : undefined,
        latest_posts: latest.length ? latest : undefined,
      });
    },
  }),
  update_profile: tool({
    effect: "write",
    summary:
      "Change what the user's own profile says: its words, city, link, or whether it is private. Made public, it lets in everybody who has asked to follow it.",
    destructive: true,
    idempotent: true,
    input: {
      bio: z
        .string()
        .min(1)
        .max(160)
        .regex(/\S/)
        .optional()
        .describe("A few words about the user")
        .meta({
          examples: [
            "Designer and studio owner by the sea",
            "Ink, paper and long walks",
            "I draw things and run a small studio",
            "Posters, books, good coffee",
            "Always looking for the right yellow",
            "Design for people in a hurry",
            "Made by hand, sent by mail",
            "Harbour city, quiet streets, loud colours",
          ],
        }),
      city: z
        .string()
        .min(2)
        .max(60)
        .regex(/\S/)
        .optional()
        .describe("Where the user lives")
        .meta({
          examples: [
            "Lisbon",
            "Hamburg",
            "Lyon",
            "Porto",
            "Vienna",
            "Dublin",
            "Madrid",
            "Copenhagen",
          ],
        }),
      link: z
        .string()
        .max(80)
        .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+(\/[\w./-]*)?$/)
        .optional()
        .describe("A web address, without https://")
        .meta({
          examples: [
            "ana.example/work",
            "ana.example/shop",
            "ana.example/posters",
            "prints.example",
            "ana.example/talks",
            "ana.example/about",
            "ana.example/news",
            "ana.example/books",
          ],
        }),
      private: z
        .boolean()
        .optional()
        .describe("True to show posts to followers only, who must ask first"),
    },
    returns: {
      ...profileRow,
      changed: z.array(z.string()),
      let_in: z.int().optional().describe("Requests that were granted by this"),
    },
    run(network, wanted) {
      const own = network.profiles[network.user]!;
      if (Object.keys(wanted).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a bio, city, link, or private",
        );
      const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
        key => wanted[key] !== own[key],
      );
      if (changed.length === 0) refuse("conflict", "your profile is like that already");
      Object.assign(own, given(wanted));
      const waiting =
        changed.includes("private") && !own.private
          ? Object.entries(getOriginal(network).follows).filter(
              ([, it]) => it.followed === network.user && it.status === "requested",
            )
          : [];
      for (const [followId] of waiting) network.follows[followId]!.status = "following";
      return given({
        ...rowOf(network, network.user),
        changed,
        let_in: waiting.length || undefined,
      });
    },
  }),
  search_users: tool({
    effect: "read",
    summary: "Find profiles of people and businesses by name or handle, by name order.",
    input: {
      query: label("profile")
        .optional()
        .describe("Only profiles whose name or handle contains this"),
      kind: z.enum(["person", "business"]).optional().describe("Only people, or only businesses"),
      city: z
        .string()
        .min(2)
        .max(60)
        .optional()
        .describe("Only profiles in this city")
        .meta({
          examples: [
            "Lisbon",
            "Hamburg",
            "Lyon",
            "Porto",
            "Vienna",
            "Dublin",
            "Madrid",
            "Copenhagen",
          ],
        }),
      limit,
    },
    returns: { profiles: z.array(z.object({ ...profileRow, kind: z.string() })) },
    run(network, { query, kind, city, limit: most = 10 }) {
      const wanted = query?.trim().replace(/^@/, "");
      const fits = (it: Profile) =>
        (!wanted || containsText(it.name, wanted) || containsText(it.handle, wanted)) &&
        (!kind || it.kind === kind) &&
        (!city || it.city?.toLowerCase() === city.toLowerCase());
      const found = Object.entries(network.profiles)
        .filter(([key, it]) => key !== network.user && fits(it))
        .sort(([a, x], [b, y]) =>
          x.name === y.name ? (a < b ? -1 : 1) : x.name < y.name ? -1 : 1,
        );
      return {
        profiles: found
          .slice(0, most)
          .map(([key, it]) => ({ ...rowOf(network, key), kind: it.kind })),
      };
    },
  }),
  follow_user: tool({
    effect: "write",
    summary:
      "Follow a profile, so that its posts come into the user's feed. A private one is asked first.",
    idempotent: true,
    input: { profile_id: profileId },
    returns: { ...profileRow, status: z.enum(["following", "requested"]), followers: z.int() },
    run(network, { profile_id }, { now, newId }) {
      if (profile_id === network.user) refuse("invalid_params", "nobody follows themselves");
      const { name, handle, private: isPrivate } = reachable(network, profile_id);
      const old = getOriginal(network);
      const own = followOf(old, old.user, profile_id)?.[1];
      if (own)
        refuse(
          "conflict",
          own.status === "following"
            ? `you follow ${name} (@${handle}) since ${own.since}`
            : `you asked to follow ${name} (@${handle}) on ${own.since}, and wait for an answer`,
        );
      const asked = Object.values(old.follows).filter(
        it => it.follower === old.user && it.status === "requested",
      );
      if (isPrivate && asked.length >= mostRequests)
        refuse(
          "limit_exceeded",
          `${asked.length} of your requests wait for an answer, and ${mostRequests} is the most`,
          `social_media_unfollow_user takes one back, for example ${asked[0]!.followed}`,
        );
      const status = isPrivate ? ("requested" as const) : ("following" as const);
      network.follows[newId("fol")] = {
        follower: network.user,
        followed: profile_id,
        status,
        since: now.slice(0, 10),
      };
      const followers = Object.values(old.follows).filter(
        it => it.followed === profile_id && it.status === "following",
      ).length;
      return { ...rowOf(network, profile_id), status, followers: followers + (isPrivate ? 0 : 1) };
    },
  }),
  unfollow_user: tool({
    effect: "write",
    summary: "Stop following a profile, or take back the request to follow it.",
    destructive: true,
    input: { profile_id: profileId },
    returns: {
      ...profileRow,
      ended: z.enum(["following", "requested"]).describe("What the user's standing was"),
    },
    run(network, { profile_id }) {
      const { name, handle } = profileOf(network, profile_id);
      const found = followOf(getOriginal(network), network.user, profile_id);
      if (!found)
        return refuse(
          "precondition_failed",
          `you do not follow ${name} (@${handle})`,
          "social_media_list_following gives whom you follow",
        );
      delete network.follows[found[0]];
      return { ...rowOf(network, profile_id), ended: found[1].status };
    },
  }),
};

const known = z.object({
  name: label("profile"),
  profile_id: id("profile"),
  since: day(),
  waits: z.boolean().optional().describe("True of a request that is not answered yet"),
});

/** Whom one side of the follows names, the newest first. */
function others(
  network: Network,
  own: "follower" | "followed",
  profileKey: string,
  passes: (name: string, status: string) => boolean,
) {
  const other = own === "follower" ? "followed" : "follower";
  return Object.entries(network.follows)
    .filter(
      ([, it]) =>
        it[own] === profileKey &&
        (it.status === "following" || profileKey === network.user) &&
        passes(network.profiles[it[other]]!.name, it.status),
    )
    .sort(([a, x], [b, y]) => (x.since === y.since ? (a < b ? 1 : -1) : x.since < y.since ? 1 : -1))
    .map(([, it]) =>
      given({
        name: network.profiles[it[other]]!.name,
        profile_id: it[other],
        since: it.since,
        waits: it.status === "requested" || undefined,
      }),
    );
}

const followStatus = z.enum(["following", "requested"]).optional();

export const circles = {
  list_followers: tool({
    effect: "read",
    summary:
      "List who follows a profile, the newest first: the user's own, with those who have asked, if no id is given.",
    input: {
      profile_id: profileId.optional(),
      name: label("profile").optional().describe("Only followers whose name contains this"),
      status: followStatus.describe("Only those who follow, or only those who have asked to"),
      limit,
    },
    returns: { followers: z.array(known) },
    run(network, { profile_id = network.user, name, status, limit: most = 10 }) {
      openTo(network, profile_id);
      return {
        followers: others(
          network,
          "followed",
          profile_id,
          (called, state) => (!name || containsText(called, name)) && (!status || state === status),
        ).slice(0, most),
      };
    },
  }),
  list_following: tool({
    effect: "read",
    summary:
      "List whom a profile follows, the newest first: the user's own, with whom they have asked, if no id is given.",
    input: {
      profile_id: profileId.optional(),
      name: label("profile").optional().describe("Only profiles whose name contains this"),
      status: followStatus.describe("Only those whom it follows, or only those it has asked"),
      limit,
    },
    returns: { following: z.array(known) },
    run(network, { profile_id = network.user, name, status, limit: most = 10 }) {
      openTo(network, profile_id);
      return {
        following: others(
          network,
          "follower",
          profile_id,
          (called, state) => (!name || containsText(called, name)) && (!status || state === status),
        ).slice(0, most),
      };
    },
  }),
};
