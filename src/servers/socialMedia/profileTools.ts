/** Tools that show, change and search profiles, and follow people. */
import { z } from "zod";
import { day, label, minute, phrase, id } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { listChangedNames } from "../kit/changes.ts";
import {
  descending,
  ascending,
  equals,
  getSchemas,
  meets,
  contains,
  refersTo,
} from "../kit/table.ts";
import {
  postLabel,
  profileRow,
  SocialMediaState,
  canSee,
  countFollowers,
  findFollow,
  posts,
  profiles,
  reachableProfiles,
  follows,
  visibleProfiles,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(SocialMediaState);

export const profileTools = {
  get_profile: reachableProfiles.get({
    summary:
      "Get one profile in full: what it says about itself, how many follow it, how the user stands to it, and its latest posts as far as the user may see them.",
    row: {
      ...profileRow,
      kind: z.string(),
      bio: z.string().optional(),
      city: z.string().optional(),
      link: z.string().optional(),
      private: z.boolean(),
      joined: day(),
      followers: [z.int(), (_, { id, world }) => countFollowers(world, id)],
      following: [
        z.int(),
        (_, { id, world }) =>
          Object.values(world.follows).filter(it => it.follower === id && it.status === "following")
            .length,
      ],
      posts: [
        z.int().describe("Posts that the user may see"),
        (_, { id, world }) =>
          Object.values(world.posts).filter(it => it.author === id && canSee(world, it)).length,
      ],
      you: [
        z.enum(["following", "requested", "none"]).describe("How the user stands to the profile"),
        (_, { id, world }) => findFollow(world, world.user, id)?.[1].status ?? "none",
      ],
      requests: [
        z.int().optional().describe("On the user's own profile: how many have asked to follow it"),
        (_, { id, world }) =>
          id === world.user ? countFollowers(world, id, "requested") : undefined,
      ],
      latest_posts: posts.related({
        row: { ...postLabel, at: minute() },
        where: (it, { id, world }) => it.author === id && canSee(world, it),
        order: descending(it => it.at, { latestId: true }),
        limit: 4,
      }),
    },
  }),
  update_profile: tool({
    effect: "write",
    summary:
      "Change what the user's own profile says: its words, city, link, or whether it is private. Made public, it lets in everybody who has asked to follow it.",
    destructive: true,
    idempotent: true,
    input: {
      bio: phrase(1, 160)
        .optional()
        .describe("A few words about the user")
        .meta({ examples: vocabulary.bios }),
      city: phrase(2, 60)
        .optional()
        .describe("Where the user lives")
        .meta({ examples: vocabulary.cities }),
      link: z
        .string()
        .max(80)
        .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+(\/[\w./-]*)?$/)
        .optional()
        .describe("A web address, without https://")
        .meta({ examples: vocabulary.links }),
      private: z
        .boolean()
        .optional()
        .describe("True to show posts to followers only, who must ask first"),
    },
    returns: {
      ...getSchemas(profileRow),
      changed: z.array(z.string()),
      let_in: z.int().optional().describe("Requests that were granted by this"),
    },
    run(state, changes, { now }) {
      const profile = state.profiles[state.user]!;
      const changed = listChangedNames(profile, changes, {
        subject: "your profile",
        hint: "give a bio, city, link, or private",
      });
      Object.assign(profile, changes);
      const pendingRequests =
        changed.includes("private") && !profile.private
          ? Object.entries(getOriginal(state).follows).filter(
              ([, it]) => it.followed === state.user && it.status === "requested",
            )
          : [];
      for (const [followId] of pendingRequests) state.follows[followId]!.status = "following";
      return {
        ...profiles.show(profileRow, state, state.user, now),
        changed,
        let_in: pendingRequests.length || undefined,
      };
    },
  }),
  search_users: profiles.list({
    summary: "Find profiles of people and businesses by name or handle, by name order.",
    filters: {
      query: meets(
        label("profile"),
        "Only profiles whose name or handle contains this",
        (it, text: string) => containsText(it.name, text) || containsText(it.handle, text),
        (_, text) => text.trim().replace(/^@/, ""),
      ),
      kind: equals(
        z.enum(["person", "business"]),
        "Only people, or only businesses",
        it => it.kind,
      ),
      city: equals(
        z.string().min(2).max(60).optional().meta({ examples: vocabulary.cities }),
        "Only profiles in this city",
        it => it.city?.toLowerCase(),
        (_, city) => city.toLowerCase(),
      ),
    },
    where: (_, __, { id, world }) => id !== world.user,
    order: ascending(it => it.name),
    limit: 10,
    row: { ...profileRow, kind: z.string() },
  }),
};

export const maxPendingRequests = 5;

/** A tool that lists the other sides of the follows of a profile, the newest first. */
function createFollowList(
  own: "follower" | "followed",
  as: string,
  summary: string,
  descriptions: { readonly name: string; readonly status: string },
) {
  const other = own === "follower" ? "followed" : "follower";
  return follows.list({
    summary,
    filters: {
      profile_id: refersTo(visibleProfiles, undefined, it => it[own]),
      name: contains(
        label("profile"),
        descriptions.name,
        (it, state) => state.profiles[it[other]]!.name,
      ),
      status: equals(z.enum(["following", "requested"]), descriptions.status, it => it.status),
    },
    where(it, { profile_id }, { world: { user } }) {
      const profileId = profile_id ?? user;
      return it[own] === profileId && (it.status === "following" || profileId === user);
    },
    order: descending(it => it.since, { latestId: true }),
    limit: 10,
    as,
    row: {
      name: [label("profile"), (it, { world }) => world.profiles[it[other]]!.name],
      profile_id: [id("profile"), it => it[other]],
      since: day(),
      waits: [
        z.boolean().optional().describe("True of a request that is not answered yet"),
        it => it.status === "requested" || undefined,
      ],
    },
  });
}

export const followTools = {
  follow_user: tool({
    effect: "write",
    summary:
      "Follow a profile, so that its posts come into the user's feed. A private one is asked first.",
    idempotent: true,
    input: { profile_id: profiles.id },
    returns: {
      ...getSchemas(profileRow),
      status: z.enum(["following", "requested"]),
      followers: z.int(),
    },
    run(state, { profile_id }, { now, newId }) {
      if (profile_id === state.user) refuse("invalid_params", "nobody follows themselves");
      const { name, handle, private: isPrivate } = reachableProfiles.find(state, profile_id);
      const original = getOriginal(state);
      const existing = findFollow(original, original.user, profile_id)?.[1];
      if (existing)
        refuse(
          "conflict",
          existing.status === "following"
            ? `you follow ${name} (@${handle}) since ${existing.since}`
            : `you asked to follow ${name} (@${handle}) on ${existing.since}, and wait for an answer`,
        );
      const pendingRequests = Object.values(original.follows).filter(
        it => it.follower === original.user && it.status === "requested",
      );
      if (isPrivate && pendingRequests.length >= maxPendingRequests)
        refuse(
          "limit_exceeded",
          `${pendingRequests.length} of your requests wait for an answer, and ${maxPendingRequests} is the most`,
          `social_media_unfollow_user takes one back, for example ${pendingRequests[0]!.followed}`,
        );
      const status = isPrivate ? ("requested" as const) : ("following" as const);
      state.follows[newId("fol")] = {
        follower: state.user,
        followed: profile_id,
        status,
        since: now.slice(0, 10),
      };
      return {
        ...profiles.show(profileRow, state, profile_id, now),
        status,
        followers: countFollowers(state, profile_id) + (isPrivate ? 0 : 1),
      };
    },
  }),
  unfollow_user: tool({
    effect: "write",
    summary: "Stop following a profile, or take back the request to follow it.",
    destructive: true,
    input: { profile_id: profiles.id },
    returns: {
      ...getSchemas(profileRow),
      ended: z.enum(["following", "requested"]).describe("What the user's standing was"),
    },
    run(state, { profile_id }, { now }) {
      const { name, handle } = profiles.find(state, profile_id);
      const follow = findFollow(getOriginal(state), state.user, profile_id);
      if (!follow)
        return refuse(
          "precondition_failed",
          `you do not follow ${name} (@${handle})`,
          "social_media_list_following gives whom you follow",
        );
      delete state.follows[follow[0]];
      return { ...profiles.show(profileRow, state, profile_id, now), ended: follow[1].status };
    },
  }),
  list_followers: createFollowList(
    "followed",
    "followers",
    "List who follows a profile, the newest first: the user's own, with those who have asked, if no id is given.",
    {
      name: "Only followers whose name contains this",
      status: "Only those who follow, or only those who have asked to",
    },
  ),
  list_following: createFollowList(
    "follower",
    "following",
    "List whom a profile follows, the newest first: the user's own, with whom they have asked, if no id is given.",
    {
      name: "Only profiles whose name contains this",
      status: "Only those whom it follows, or only those it has asked",
    },
  ),
};
