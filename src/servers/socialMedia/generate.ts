/**
 * The social network's part of a world: the canon's people and places as profiles, a few strangers
 * with many followers, and what they all post. Knows who would follow whom.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator } from "../shared/generator.ts";
import { addPostsAndResponses } from "./generateResponses.ts";
import {
  businessPosts,
  creatorPosts,
  creators,
  lifePosts,
  passings,
  replies,
  workPosts,
} from "./generateValues.ts";
import { findCastInconsistencies, findStateInconsistencies } from "./inconsistencies.ts";
import { NetworkBuilder, plain, postingPlaces } from "./networkBuilder.ts";
import { server, type Network } from "./server.ts";
import type { ProfileGroups } from "./networkBuilder.ts";

/**
 * A post of every kind that a rule asks for: of a private profile, blocked either way, deleted,
 * closed to comments, for followers, already liked and shared.
 */
function addSmallFixture(making: NetworkBuilder, cast: SharedCast): ProfileGroups {
  const { state } = making;
  const ana = making.person(cast.user, {
    bio: "Posters, paper and a small studio",
    city: cast.home.name,
    link: "ana.example",
    private: true,
  });
  state.user = ana;
  const [ben, chloe] = cast.colleagues
    .slice(0, 2)
    .map(it => making.person(it, { city: cast.home.name })) as [string, string];
  const [brother, aunt, clara, marco] = cast.friends.slice(0, 4).map((it, i) =>
    making.person(it, {
      private: i === 1 || i === 3,
      ...(i < 2 ? { city: cast.home.name } : {}),
    }),
  ) as [string, string, string, string];
  const cafe = making.profile(
    cast.getPlace("cafe").name,
    plain(cast.getPlace("cafe").name),
    "business",
    { city: cast.home.name, bio: "Coffee, cake, window seats" },
  );
  const [drawer, printer] = creators
    .slice(0, 2)
    .map(([name, handle, bio]) => making.profile(name, handle, "person", { bio })) as [
    string,
    string,
  ];
  state.profiles[ana]!.blocks = [drawer];
  state.profiles[printer]!.blocks = [ana];
  for (const it of [ben, brother, aunt, cafe]) making.follow(ana, it);
  for (const it of [ben, chloe, aunt]) making.follow(it, ana);
  making.follow(chloe, ben);
  making.follow(marco, ana, "requested");
  const mine = making.post(ana, workPosts[0]!, "2026-03-06T18:20", { likes: [ben, chloe] });
  making.post(ana, workPosts[6]!, "2026-03-09T08:40");
  making.post(ana, workPosts[7]!, "2026-02-20T10:00", { status: "deleted" });
  const typeface = making.post(ben, workPosts[1]!, "2026-03-08T11:15", { likes: [ana, chloe] });
  making.post(chloe, workPosts[3]!, "2026-03-07T16:05", { visibility: "followers" });
  const colours = making.post(chloe, workPosts[4]!, "2026-03-05T09:30", { likes: [ben] });
  making.post(brother, lifePosts[0]!, "2026-03-08T19:45", { comments: "closed" });
  making.post(aunt, lifePosts[9]!, "2026-03-04T12:10", { visibility: "followers" });
  making.post(marco, lifePosts[8]!, "2026-03-03T21:00");
  making.post(cafe, `${state.profiles[cafe]!.name}: ${businessPosts[1]!}`, "2026-03-07T08:30", {
    likes: [clara],
  });
  making.post(drawer, creatorPosts[0]!, "2026-03-02T20:15");
  making.post(printer, creatorPosts[1]!, "2026-03-01T17:50");
  making.post(ana, passings[0]!, "2026-03-06T12:00", { shared: colours });
  making.comment(mine, ben, "2026-03-06T18:55", replies[2]!);
  making.comment(typeface, ana, "2026-03-08T12:00", replies[6]!);
  return {
    ana,
    colleagues: [ben, chloe],
    friends: [brother, aunt, clara, marco],
    businesses: [cafe],
    creators: [drawer, printer],
  };
}

/** What the full world has beyond the small one's. */
function addRemainingProfiles(
  making: NetworkBuilder,
  cast: SharedCast,
  small: ProfileGroups,
): void {
  const { random, state } = making;
  const colleagues = [
    ...small.colleagues,
    ...cast.colleagues
      .slice(2)
      .map((it, i) => making.person(it, { city: cast.home.name, private: i % 5 === 1 })),
  ];
  const friends = [
    ...small.friends,
    ...cast.friends.slice(4).map((it, i) => making.person(it, { private: i === 1 })),
  ];
  const firms = [...cast.clients, ...cast.prospects.slice(0, 5)];
  const businesses = [
    ...small.businesses,
    ...postingPlaces.slice(1).map(role =>
      making.profile(cast.getPlace(role).name, plain(cast.getPlace(role).name), "business", {
        city: cast.home.name,
      }),
    ),
    ...firms.map(it =>
      making.profile(it.name, plain(it.name), "business", {
        city: it.city,
        link: it.domain,
        bio: it.industry,
      }),
    ),
  ];
  const strangers = [
    ...small.creators,
    ...creators.slice(2).map(([name, handle, bio], i) =>
      making.profile(name, handle, "person", {
        bio,
        private: i === 3,
        ...(random.boolean(0.6) ? { city: random.pick(cast.cities.slice(1)).name } : {}),
      }),
    ),
  ];
  state.profiles[small.ana]!.blocks!.push(strangers[7]!);
  state.profiles[strangers[8]!]!.blocks = [small.ana];
  const groups: ProfileGroups = {
    ana: small.ana,
    colleagues,
    friends,
    businesses,
    creators: strangers,
  };
  addFollowers(making, groups);
  addPostsAndResponses(making, groups);
}

function addFollowers(
  making: NetworkBuilder,
  { ana, colleagues, friends, businesses, creators: strangers }: ProfileGroups,
): void {
  const { random, state } = making;
  const blocking = new Set([
    ...(state.profiles[ana]!.blocks ?? []),
    ...Object.entries(state.profiles)
      .filter(([, it]) => it.blocks?.includes(ana))
      .map(([key]) => key),
  ]);
  const open = (it: string) => !blocking.has(it);
  for (const it of [...colleagues, ...friends]) {
    if (random.boolean(0.55))
      making.follow(
        ana,
        it,
        state.profiles[it]!.private && random.boolean(0.3) ? "requested" : "following",
      );
    if (random.boolean(0.65))
      making.follow(it, ana, random.boolean(0.25) ? "requested" : "following");
  }
  for (const it of [...businesses, ...strangers].filter(open))
    if (random.boolean(0.4))
      making.follow(ana, it, state.profiles[it]!.private ? "requested" : "following");
  for (const it of strangers.filter(open).slice(0, 4))
    if (random.boolean(0.5)) making.follow(it, ana);
  for (const it of [...colleagues, ...friends]) {
    for (const other of random
      .shuffle([...colleagues, ...friends, ...businesses, ...strangers])
      .slice(0, 1 + random.integer(2)))
      making.follow(it, other);
  }
}

export const generator = defineGenerator<Network>({
  server,
  generate(context) {
    const making = new NetworkBuilder(context);
    const cast = addSmallFixture(making, context.cast);
    if (context.size === "full") addRemainingProfiles(making, context.cast, cast);
    return making.state;
  },
  findInconsistencies: (state, _world, cast) => [
    ...findStateInconsistencies(state, cast),
    ...findCastInconsistencies(state, cast),
  ],
});
