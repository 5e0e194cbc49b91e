/** Generates comments, likes and shares. */
import type { Random } from "../../environment/random.ts";
import { addMinutes } from "../../environment/time.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import type { ProfileGroups } from "./networkBuilder.ts";
import {
  businessPosts,
  creatorPosts,
  lifePosts,
  passings,
  replies,
  workPosts,
} from "./generateValues.ts";
import { type NetworkBuilder, type Post } from "./networkBuilder.ts";

/** A pool of which each text is used once, those that the small world uses left out. */
function poolOf(
  { random, state }: NetworkBuilder,
  texts: readonly string[],
  before = "",
): () => string | undefined {
  const used = new Set(Object.values(state.posts).map(it => it.text));
  const left = random.shuffle(texts.filter(it => !used.has(before + it)));
  return () => left.pop();
}

export function addPostsAndResponses(making: NetworkBuilder, cast: ProfileGroups): void {
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
  addResponses(making, [cast.ana, ...cast.colleagues, ...cast.friends]);
}

const kindOfPost = (random: Random): Partial<Post> => ({
  ...(random.boolean(0.15) ? { visibility: "followers" as const } : {}),
  ...(random.boolean(0.15) ? { comments: "closed" as const } : {}),
  ...(random.boolean(0.07) ? { status: "deleted" as const } : {}),
});

/** Likes, comments and shares by those who may see the post. */
function addResponses(making: NetworkBuilder, people: readonly string[]): void {
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
