/** Tools that follow people and list followers. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { mostRequests, profileRow, rowOf } from "./profileTools.ts";
import { Network, followOf, openTo, profileOf, reachable } from "./state.ts";
import { limit, profileId } from "./parameters.ts";

const tool = createToolFactory(Network);

export const followTools = {
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
      omitUndefined({
        name: network.profiles[it[other]]!.name,
        profile_id: it[other],
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
