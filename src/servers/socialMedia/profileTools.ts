/** Tools that show, change and search profiles. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  SocialMediaState,
  compareNewestFirst,
  canSee,
  findFollow,
  getPostHeadline,
  findReachableProfile,
  type Profile,
} from "./state.ts";
import { limit, profileId } from "./parameters.ts";

const tool = createToolFactory(SocialMediaState);

export const maxPendingRequests = 5;

const maxLatestPosts = 4;

export const profileRow = { name: label("profile"), profile_id: id("profile"), handle: z.string() };

export const createProfileRow = ({ profiles }: SocialMediaState, profile_id: string) => ({
  name: profiles[profile_id]!.name,
  profile_id,
  handle: profiles[profile_id]!.handle,
});

const followStatus = z
  .enum(["following", "requested", "none"])
  .describe("How the user stands to the profile");

const getFollowStatus = (
  state: SocialMediaState,
  profileId: string,
): z.infer<typeof followStatus> => findFollow(state, state.user, profileId)?.[1].status ?? "none";

export const profileTools = {
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
      you: followStatus,
      requests: z
        .int()
        .optional()
        .describe("On the user's own profile: how many have asked to follow it"),
      latest_posts: z
        .array(z.object({ post: label("post"), post_id: id("post"), at: minute() }))
        .optional(),
    },
    run(state, { profile_id }) {
      const it = findReachableProfile(state, profile_id);
      const follows = Object.values(state.follows).filter(
        of => of.followed === profile_id || of.follower === profile_id,
      );
      const count = (key: "followed" | "follower", status = "following") =>
        follows.filter(of => of[key] === profile_id && of.status === status).length;
      const posts = Object.entries(state.posts)
        .filter(([, post]) => post.author === profile_id && canSee(state, post))
        .sort(compareNewestFirst);
      const latestPosts = posts.slice(0, maxLatestPosts).map(([post_id, post]) => ({
        post: getPostHeadline(state, post),
        post_id,
        at: post.at,
      }));
      return omitUndefined({
        ...createProfileRow(state, profile_id),
        kind: it.kind,
        bio: it.bio,
        city: it.city,
        link: it.link,
        private: it.private,
        joined: it.joined,
        followers: count("followed"),
        following: count("follower"),
        posts: posts.length,
        you: getFollowStatus(state, profile_id),
        requests: profile_id === state.user ? count("followed", "requested") : undefined,
        latest_posts: latestPosts.length ? latestPosts : undefined,
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
    run(state, changes) {
      const profile = state.profiles[state.user]!;
      if (Object.keys(changes).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a bio, city, link, or private",
        );
      const changed = (Object.keys(changes) as (keyof typeof changes)[]).filter(
        key => changes[key] !== profile[key],
      );
      if (changed.length === 0) refuse("conflict", "your profile is like that already");
      Object.assign(profile, omitUndefined(changes));
      const pendingRequests =
        changed.includes("private") && !profile.private
          ? Object.entries(getOriginal(state).follows).filter(
              ([, it]) => it.followed === state.user && it.status === "requested",
            )
          : [];
      for (const [followId] of pendingRequests) state.follows[followId]!.status = "following";
      return omitUndefined({
        ...createProfileRow(state, state.user),
        changed,
        let_in: pendingRequests.length || undefined,
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
    run(state, { query, kind, city, limit = 10 }) {
      const changes = query?.trim().replace(/^@/, "");
      const isMatch = (it: Profile) =>
        (!changes || containsText(it.name, changes) || containsText(it.handle, changes)) &&
        (!kind || it.kind === kind) &&
        (!city || it.city?.toLowerCase() === city.toLowerCase());
      const matches = Object.entries(state.profiles)
        .filter(([key, it]) => key !== state.user && isMatch(it))
        .sort(([a, x], [b, y]) =>
          x.name === y.name ? (a < b ? -1 : 1) : x.name < y.name ? -1 : 1,
        );
      return {
        profiles: matches
          .slice(0, limit)
          .map(([key, it]) => ({ ...createProfileRow(state, key), kind: it.kind })),
      };
    },
  }),
};
