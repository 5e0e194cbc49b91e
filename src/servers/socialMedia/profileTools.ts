/** Tools that show, change and search profiles. */
import { z } from "zod";
import { day, label, minute, phrase } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { listChangedNames } from "../kit/changes.ts";
import { descending, ascending, equals, getSchemas, meets } from "../kit/table.ts";
import { postLabel, profileRow } from "./parameters.ts";
import {
  SocialMediaState,
  canSee,
  countFollowers,
  findFollow,
  posts,
  profiles,
  reachableProfiles,
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
