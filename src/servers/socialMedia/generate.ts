/**
 * The social network's part of a world: the canon's people and places as profiles, a few strangers
 * with many followers, and what they all post. Knows who would follow whom.
 */
import type { Random } from "../../environment/random.ts";
import { addMinutes } from "../../environment/time.ts";
import { server, type Network } from "./server.ts";
import type { SharedCast, Person } from "../shared/cast.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import {
  bios,
  businessPosts,
  creatorPosts,
  creators,
  lifePosts,
  passings,
  replies,
  workPosts,
} from "./generateValues.ts";

type Profile = Network["profiles"][string];
type Post = Network["posts"][string];

const plain = (name: string) =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** Places that post themselves; the museum and the market hall belong to firms. */
const postingPlaces = ["cafe", "bakery", "books", "florist", "gym", "cinema", "concert", "pottery"];

/** A network while it is made. */
class Making {
  readonly state: Network;
  readonly random: Random;
  readonly id: GeneratorContext["nextId"];

  constructor({ random, nextId }: GeneratorContext) {
    this.random = random;
    this.id = nextId;
    this.state = { user: "", profiles: {}, follows: {}, posts: {}, comments: {} };
  }

  profile(
    name: string,
    handle: string,
    kind: Profile["kind"],
    more: Partial<Profile> = {},
  ): string {
    const profileId = this.id("pro");
    this.state.profiles[profileId] = {
      name,
      handle,
      kind,
      private: false,
      joined: dayAfterStart(-200 - this.random.integer(1800)),
      ...more,
    };
    return profileId;
  }

  person({ name, userName }: Person, more: Partial<Profile> = {}): string {
    return this.profile(name, userName, "person", {
      ...(this.random.boolean(0.4) ? { bio: this.random.pick(bios) } : {}),
      ...more,
    });
  }

  follow(
    follower: string,
    followed: string,
    status: "following" | "requested" = "following",
  ): void {
    if (
      follower === followed ||
      Object.values(this.state.follows).some(
        it => it.follower === follower && it.followed === followed,
      )
    )
      return;
    const since = dayAfterStart(
      status === "requested" ? -1 - this.random.integer(9) : -10 - this.random.integer(400),
    );
    this.state.follows[this.id("fol")] = { follower, followed, status, since };
  }

  post(author: string, text: string, at: string, more: Partial<Post> = {}): string {
    const postId = this.id("post");
    this.state.posts[postId] = {
      author,
      at,
      text,
      visibility: "public",
      comments: "open",
      status: "published",
      likes: [],
      ...more,
    };
    return postId;
  }

  comment(postId: string, by: string, at: string, text: string): void {
    this.state.comments[this.id("cmt")] = { post_id: postId, by, at, text };
  }

  /** A minute so many days ago. */
  ago(days: number): string {
    return `${dayAfterStart(-days)}T${String(8 + this.random.integer(14)).padStart(2, "0")}:${String(5 * this.random.integer(12)).padStart(2, "0")}`;
  }
}

interface ProfileGroups {
  readonly ana: string;
  readonly colleagues: readonly string[];
  readonly friends: readonly string[];
  readonly businesses: readonly string[];
  readonly creators: readonly string[];
}

/**
 * A post of every kind that a rule asks for: of a private profile, blocked either way, deleted,
 * closed to comments, for followers, already liked and shared.
 */
function first(making: Making, cast: SharedCast): ProfileGroups {
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
function rest(making: Making, cast: SharedCast, small: ProfileGroups): void {
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
  circles(making, groups);
  conversation(making, groups);
}

function circles(
  making: Making,
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

/** A pool of which each text is used once, those that the small world uses left out. */
function poolOf(
  { random, state }: Making,
  texts: readonly string[],
  before = "",
): () => string | undefined {
  const used = new Set(Object.values(state.posts).map(it => it.text));
  const left = random.shuffle(texts.filter(it => !used.has(before + it)));
  return () => left.pop();
}

function conversation(making: Making, cast: ProfileGroups): void {
  const { random, state } = making;
  const groups: readonly (readonly [readonly string[], readonly string[], number])[] = [
    [[cast.ana, ...cast.colleagues], workPosts, 24],
    [cast.friends, lifePosts, 20],
    [cast.creators, creatorPosts, 24],
  ];
  for (const [authors, texts, most] of groups) {
    const next = poolOf(making, texts);
    for (let i = 0; i < most; i++) {
      const text = next();
      if (text !== undefined)
        making.post(
          i < 9 && authors[0] === cast.ana ? cast.ana : random.pick(authors),
          text,
          making.ago(1 + random.integer(45)),
          kindOfPost(random),
        );
    }
  }
  const next = poolOf(
    making,
    businessPosts.filter((_, i) => i !== 1),
  );
  for (const author of cast.businesses) {
    const text = next();
    if (text !== undefined)
      making.post(
        author,
        `${state.profiles[author]!.name}: ${text}`,
        making.ago(1 + random.integer(45)),
        random.boolean(0.15) ? { comments: "closed" } : {},
      );
  }
  respond(making, [cast.ana, ...cast.colleagues, ...cast.friends]);
}

const kindOfPost = (random: Random): Partial<Post> => ({
  ...(random.boolean(0.15) ? { visibility: "followers" as const } : {}),
  ...(random.boolean(0.15) ? { comments: "closed" as const } : {}),
  ...(random.boolean(0.07) ? { status: "deleted" as const } : {}),
});

/** Likes, comments and shares by those who may see the post. */
function respond(making: Making, people: readonly string[]): void {
  const { random, state } = making;
  const sees = (who: string, { author, visibility }: Post) => {
    if (who === author) return false;
    if (
      state.profiles[author]!.blocks?.includes(who) ||
      state.profiles[who]!.blocks?.includes(author)
    )
      return false;
    return (
      (visibility === "public" && !state.profiles[author]!.private) ||
      Object.values(state.follows).some(
        it => it.follower === who && it.followed === author && it.status === "following",
      )
    );
  };
  const left = random.shuffle(passings.slice(1));
  for (const [postId, post] of Object.entries(state.posts)) {
    // nobody has answered yet what was posted this morning
    if (post.at > dayAfterStart(0)) continue;
    const audience = people.filter(it => sees(it, post));
    if (post.likes.length === 0)
      post.likes = audience.filter(it => random.boolean(it === state.user ? 0.3 : 0.16));
    if (post.comments === "open" && audience.length > 0 && random.boolean(0.4))
      making.comment(
        postId,
        random.pick(audience),
        addMinutes(post.at, 10 + random.integer(200)),
        random.pick(replies),
      );
    if (
      post.visibility !== "public" ||
      state.profiles[post.author]!.private ||
      post.shared !== undefined ||
      post.author === state.user ||
      !random.boolean(0.12)
    )
      continue;
    const text = left.pop();
    const by =
      audience.length > 0
        ? random.pick([...audience, ...(audience.includes(state.user) ? [state.user] : [])])
        : undefined;
    if (text !== undefined && by !== undefined)
      making.post(by, text, addMinutes(post.at, 240 + random.integer(300)), { shared: postId });
  }
}

export const generator = defineGenerator<Network>({
  server,
  generate(context) {
    const making = new Making(context);
    const cast = first(making, context.cast);
    if (context.size === "full") rest(making, context.cast, cast);
    return making.state;
  },
  findInconsistencies: (state, _world, cast) => [...within(state, cast), ...withCanon(state, cast)],
});

function within({ profiles, follows, posts, comments }: Network, { now }: SharedCast): string[] {
  const wrong: string[] = [];
  for (const key of ["name", "handle"] as const) {
    const all = Object.values(profiles).map(it => it[key]);
    for (const it of new Set(all))
      if (all.filter(other => other === it).length > 1)
        wrong.push(`two profiles have the ${key} ${it}`);
  }
  const blocks = (by: string, whom: string) => profiles[by]!.blocks?.includes(whom) ?? false;
  const pairs = new Set<string>();
  for (const [key, it] of Object.entries(follows)) {
    if (it.follower === it.followed) wrong.push(`${key} follows itself`);
    if (pairs.has(`${it.follower} ${it.followed}`)) wrong.push(`${key} is there twice`);
    pairs.add(`${it.follower} ${it.followed}`);
    if (it.status === "requested" && !profiles[it.followed]!.private)
      wrong.push(`${key} waits for a profile that everybody may follow`);
    if (blocks(it.followed, it.follower) || blocks(it.follower, it.followed))
      wrong.push(`${key} follows in spite of a block`);
  }
  const texts = new Set<string>();
  for (const [key, it] of Object.entries(posts)) {
    if (texts.has(it.text)) wrong.push(`${key} says what another says`);
    texts.add(it.text);
    if (it.at > now) wrong.push(`${key} is from the future`);
    if (new Set(it.likes).size < it.likes.length) wrong.push(`${key} is liked twice by one`);
    if (
      it.shared !== undefined &&
      (posts[it.shared]!.at > it.at || posts[it.shared]!.visibility !== "public")
    )
      wrong.push(`${key} shares what it could not`);
  }
  for (const [key, it] of Object.entries(comments)) {
    const post = posts[it.post_id]!;
    if (post.comments === "closed") wrong.push(`${key} is under a post that takes none`);
    if (it.at < post.at || it.at > now) wrong.push(`${key} is from the wrong time`);
  }
  return wrong;
}

function withCanon({ user, profiles }: Network, cast: SharedCast): string[] {
  const known = new Set(
    [...cast.staff, ...cast.friends]
      .map(it => it.name)
      .concat(
        [...cast.clients, ...cast.prospects, ...cast.places].map(it => it.name),
        creators.map(it => it[0]),
      ),
  );
  const strangers = Object.values(profiles)
    .filter(it => !known.has(it.name))
    .map(it => `nobody knows ${it.name}`);
  return profiles[user]?.name === cast.user.name
    ? strangers
    : [`the user is not ${cast.user.name}`, ...strangers];
}
