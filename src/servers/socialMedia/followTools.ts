/** Tools that follow people and list followers. */
import { z } from "zod";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { contains, descending, equals, getSchemas, refersTo } from "../kit/table.ts";
import { profileRow } from "./parameters.ts";
import {
  SocialMediaState,
  countFollowers,
  findFollow,
  follows,
  profiles,
  reachableProfiles,
  visibleProfiles,
} from "./state.ts";

const tool = createToolFactory(SocialMediaState);

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
