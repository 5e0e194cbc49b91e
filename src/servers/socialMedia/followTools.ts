/** Tools that follow people and list followers. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { maxPendingRequests, profileRow, createProfileRow } from "./profileTools.ts";
import {
  SocialMediaState,
  findFollow,
  findVisibleProfile,
  findProfile,
  findReachableProfile,
} from "./state.ts";
import { limit, profileId } from "./parameters.ts";

const tool = createToolFactory(SocialMediaState);

export const followTools = {
  follow_user: tool({
    effect: "write",
    summary:
      "Follow a profile, so that its posts come into the user's feed. A private one is asked first.",
    idempotent: true,
    input: { profile_id: profileId },
    returns: { ...profileRow, status: z.enum(["following", "requested"]), followers: z.int() },
    run(state, { profile_id }, { now, newId }) {
      if (profile_id === state.user) refuse("invalid_params", "nobody follows themselves");
      const { name, handle, private: isPrivate } = findReachableProfile(state, profile_id);
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
      const followers = Object.values(original.follows).filter(
        it => it.followed === profile_id && it.status === "following",
      ).length;
      return {
        ...createProfileRow(state, profile_id),
        status,
        followers: followers + (isPrivate ? 0 : 1),
      };
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
    run(state, { profile_id }) {
      const { name, handle } = findProfile(state, profile_id);
      const follow = findFollow(getOriginal(state), state.user, profile_id);
      if (!follow)
        return refuse(
          "precondition_failed",
          `you do not follow ${name} (@${handle})`,
          "social_media_list_following gives whom you follow",
        );
      delete state.follows[follow[0]];
      return { ...createProfileRow(state, profile_id), ended: follow[1].status };
    },
  }),
};

const followRow = z.object({
  name: label("profile"),
  profile_id: id("profile"),
  since: day(),
  waits: z.boolean().optional().describe("True of a request that is not answered yet"),
});

/** The other sides of all follows with the profile on `ownSide`, the newest first. */
function listFollows(
  state: SocialMediaState,
  existing: "follower" | "followed",
  profileId: string,
  isIncluded: (name: string, status: string) => boolean,
) {
  const otherSide = existing === "follower" ? "followed" : "follower";
  return Object.entries(state.follows)
    .filter(
      ([, it]) =>
        it[existing] === profileId &&
        (it.status === "following" || profileId === state.user) &&
        isIncluded(state.profiles[it[otherSide]]!.name, it.status),
    )
    .sort(([a, x], [b, y]) => (x.since === y.since ? (a < b ? 1 : -1) : x.since < y.since ? 1 : -1))
    .map(([, it]) =>
      omitUndefined({
        name: state.profiles[it[otherSide]]!.name,
        profile_id: it[otherSide],
        since: it.since,
        waits: it.status === "requested" || undefined,
      }),
    );
}

const followStatus = z.enum(["following", "requested"]).optional();

export const followListTools = {
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
    returns: { followers: z.array(followRow) },
    run(state, { profile_id = state.user, name, status, limit = 10 }) {
      findVisibleProfile(state, profile_id);
      return {
        followers: listFollows(
          state,
          "followed",
          profile_id,
          (profileName, profileStatus) =>
            (!name || containsText(profileName, name)) && (!status || profileStatus === status),
        ).slice(0, limit),
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
    returns: { following: z.array(followRow) },
    run(state, { profile_id = state.user, name, status, limit = 10 }) {
      findVisibleProfile(state, profile_id);
      return {
        following: listFollows(
          state,
          "follower",
          profile_id,
          (profileName, profileStatus) =>
            (!name || containsText(profileName, name)) && (!status || profileStatus === status),
        ).slice(0, limit),
      };
    },
  }),
};
