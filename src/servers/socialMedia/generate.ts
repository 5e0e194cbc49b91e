/**
 * Generates the social network of a fixture set: people and places of the shared cast as profiles,
 * a few creators with many followers, and their posts.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator } from "../shared/generator.ts";
import { addPostsAndResponses } from "./generateResponses.ts";
import {
  businessPosts,
  creatorPosts,
  creators,
  lifePosts,
  shareTexts,
  commentTexts,
  workPosts,
} from "./generateValues.ts";
import { findCastInconsistencies, findStateInconsistencies } from "./inconsistencies.ts";
import {
  SocialMediaBuilder,
  createHandle,
  postingPlaces,
  type ProfileGroups,
} from "./networkBuilder.ts";
import { server } from "./server.ts";
import type { SocialMediaState } from "./state.ts";

/**
 * Adds a post for every rule of the server: of a private profile, blocked either way, deleted,
 * closed to comments, for followers only, already liked, already shared.
 */
function addSmallFixture(builder: SocialMediaBuilder, cast: SharedCast): ProfileGroups {
  const { state } = builder;
  const ana = builder.addPerson(cast.user, {
    bio: "Posters, paper and a small studio",
    city: cast.home.name,
    link: "ana.example",
    private: true,
  });
  state.user = ana;
  const [ben, chloe] = cast.colleagues
    .slice(0, 2)
    .map(it => builder.addPerson(it, { city: cast.home.name })) as [string, string];
  const [brother, aunt, clara, marco] = cast.friends.slice(0, 4).map((it, i) =>
    builder.addPerson(it, {
      private: i === 1 || i === 3,
      ...(i < 2 ? { city: cast.home.name } : {}),
    }),
  ) as [string, string, string, string];
  const cafe = builder.addProfile(
    cast.getPlace("cafe").name,
    createHandle(cast.getPlace("cafe").name),
    "business",
    { city: cast.home.name, bio: "Coffee, cake, window seats" },
  );
  const [drawer, printer] = creators
    .slice(0, 2)
    .map(([name, handle, bio]) => builder.addProfile(name, handle, "person", { bio })) as [
    string,
    string,
  ];
  state.profiles[ana]!.blocks = [drawer];
  state.profiles[printer]!.blocks = [ana];
  for (const it of [ben, brother, aunt, cafe]) builder.addFollow(ana, it);
  for (const it of [ben, chloe, aunt]) builder.addFollow(it, ana);
  builder.addFollow(chloe, ben);
  builder.addFollow(marco, ana, "requested");
  const ownPost = builder.addPost(ana, workPosts[0]!, "2026-03-06T18:20", { likes: [ben, chloe] });
  builder.addPost(ana, workPosts[6]!, "2026-03-09T08:40");
  builder.addPost(ana, workPosts[7]!, "2026-02-20T10:00", { status: "deleted" });
  const typeface = builder.addPost(ben, workPosts[1]!, "2026-03-08T11:15", { likes: [ana, chloe] });
  builder.addPost(chloe, workPosts[3]!, "2026-03-07T16:05", { visibility: "followers" });
  const colours = builder.addPost(chloe, workPosts[4]!, "2026-03-05T09:30", { likes: [ben] });
  builder.addPost(brother, lifePosts[0]!, "2026-03-08T19:45", { comments: "closed" });
  builder.addPost(aunt, lifePosts[9]!, "2026-03-04T12:10", { visibility: "followers" });
  builder.addPost(marco, lifePosts[8]!, "2026-03-03T21:00");
  builder.addPost(cafe, `${state.profiles[cafe]!.name}: ${businessPosts[1]!}`, "2026-03-07T08:30", {
    likes: [clara],
  });
  builder.addPost(drawer, creatorPosts[0]!, "2026-03-02T20:15");
  builder.addPost(printer, creatorPosts[1]!, "2026-03-01T17:50");
  builder.addPost(ana, shareTexts[0]!, "2026-03-06T12:00", { shared: colours });
  builder.addComment(ownPost, ben, "2026-03-06T18:55", commentTexts[2]!);
  builder.addComment(typeface, ana, "2026-03-08T12:00", commentTexts[6]!);
  return {
    ana,
    colleagues: [ben, chloe],
    friends: [brother, aunt, clara, marco],
    businesses: [cafe],
    creators: [drawer, printer],
  };
}

/** Adds what the full fixture has beyond the small one. */
function addRemainingProfiles(
  builder: SocialMediaBuilder,
  cast: SharedCast,
  small: ProfileGroups,
): void {
  const { random, state } = builder;
  const colleagues = [
    ...small.colleagues,
    ...cast.colleagues
      .slice(2)
      .map((it, i) => builder.addPerson(it, { city: cast.home.name, private: i % 5 === 1 })),
  ];
  const friends = [
    ...small.friends,
    ...cast.friends.slice(4).map((it, i) => builder.addPerson(it, { private: i === 1 })),
  ];
  const companies = [...cast.clients, ...cast.prospects.slice(0, 5)];
  const businesses = [
    ...small.businesses,
    ...postingPlaces.slice(1).map(role =>
      builder.addProfile(
        cast.getPlace(role).name,
        createHandle(cast.getPlace(role).name),
        "business",
        {
          city: cast.home.name,
        },
      ),
    ),
    ...companies.map(it =>
      builder.addProfile(it.name, createHandle(it.name), "business", {
        city: it.city,
        link: it.domain,
        bio: it.industry,
      }),
    ),
  ];
  const otherProfiles = [
    ...small.creators,
    ...creators.slice(2).map(([name, handle, bio], i) =>
      builder.addProfile(name, handle, "person", {
        bio,
        private: i === 3,
        ...(random.boolean(0.6) ? { city: random.pick(cast.cities.slice(1)).name } : {}),
      }),
    ),
  ];
  state.profiles[small.ana]!.blocks!.push(otherProfiles[7]!);
  state.profiles[otherProfiles[8]!]!.blocks = [small.ana];
  const groups: ProfileGroups = {
    ana: small.ana,
    colleagues,
    friends,
    businesses,
    creators: otherProfiles,
  };
  addFollowers(builder, groups);
  addPostsAndResponses(builder, groups);
}

function addFollowers(
  builder: SocialMediaBuilder,
  { ana, colleagues, friends, businesses, creators: otherProfiles }: ProfileGroups,
): void {
  const { random, state } = builder;
  const blocking = new Set([
    ...(state.profiles[ana]!.blocks ?? []),
    ...Object.entries(state.profiles)
      .filter(([, it]) => it.blocks?.includes(ana))
      .map(([key]) => key),
  ]);
  const isReachable = (it: string) => !blocking.has(it);
  for (const it of [...colleagues, ...friends]) {
    if (random.boolean(0.55))
      builder.addFollow(
        ana,
        it,
        state.profiles[it]!.private && random.boolean(0.3) ? "requested" : "following",
      );
    if (random.boolean(0.65))
      builder.addFollow(it, ana, random.boolean(0.25) ? "requested" : "following");
  }
  for (const it of [...businesses, ...otherProfiles].filter(isReachable))
    if (random.boolean(0.4))
      builder.addFollow(ana, it, state.profiles[it]!.private ? "requested" : "following");
  for (const it of otherProfiles.filter(isReachable).slice(0, 4))
    if (random.boolean(0.5)) builder.addFollow(it, ana);
  for (const it of [...colleagues, ...friends]) {
    for (const other of random
      .shuffle([...colleagues, ...friends, ...businesses, ...otherProfiles])
      .slice(0, 1 + random.integer(2)))
      builder.addFollow(it, other);
  }
}

export const generator = defineGenerator<SocialMediaState>({
  server,
  generate(context) {
    const builder = new SocialMediaBuilder(context);
    const cast = addSmallFixture(builder, context.cast);
    if (context.size === "full") addRemainingProfiles(builder, context.cast, cast);
    return builder.state;
  },
  findInconsistencies: (state, _states, cast) => [
    ...findStateInconsistencies(state, cast),
    ...findCastInconsistencies(state, cast),
  ],
});
