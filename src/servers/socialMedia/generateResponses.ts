/** Generates posts of random authors, and comments, likes and shares. */
import type { Random } from "../../environment/random.ts";
import { addMinutes } from "../../environment/time.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import {
  businessPosts,
  creatorPosts,
  lifePosts,
  shareTexts,
  commentTexts,
  workPosts,
} from "./generateValues.ts";
import type { Post, ProfileGroups, SocialMediaBuilder } from "./networkBuilder.ts";

/** Creates a function that returns each unused text once, in random order. */
function createTextPool(
  { random, state }: SocialMediaBuilder,
  texts: readonly string[],
  prefix = "",
): () => string | undefined {
  const used = new Set(Object.values(state.posts).map(it => it.text));
  const remaining = random.shuffle(texts.filter(it => !used.has(prefix + it)));
  return () => remaining.pop();
}

export function addPostsAndResponses(builder: SocialMediaBuilder, cast: ProfileGroups): void {
  const { random, state } = builder;
  const groups: readonly (readonly [readonly string[], readonly string[], number])[] = [
    [[cast.ana, ...cast.colleagues], workPosts, 24],
    [cast.friends, lifePosts, 20],
    [cast.creators, creatorPosts, 24],
  ];
  for (const [authors, texts, count] of groups) {
    const nextText = createTextPool(builder, texts);
    for (let i = 0; i < count; i++) {
      const text = nextText();
      if (text !== undefined)
        builder.addPost(
          i < 9 && authors[0] === cast.ana ? cast.ana : random.pick(authors),
          text,
          builder.createTimeDaysAgo(1 + random.integer(45)),
          createPostOptions(random),
        );
    }
  }
  const nextText = createTextPool(
    builder,
    businessPosts.filter((_, i) => i !== 1),
  );
  for (const author of cast.businesses) {
    const text = nextText();
    if (text !== undefined)
      builder.addPost(
        author,
        `${state.profiles[author]!.name}: ${text}`,
        builder.createTimeDaysAgo(1 + random.integer(45)),
        random.boolean(0.15) ? { comments: "closed" } : {},
      );
  }
  addResponses(builder, [cast.ana, ...cast.colleagues, ...cast.friends]);
}

const createPostOptions = (random: Random): Partial<Post> => ({
  ...(random.boolean(0.15) ? { visibility: "followers" as const } : {}),
  ...(random.boolean(0.15) ? { comments: "closed" as const } : {}),
  ...(random.boolean(0.07) ? { status: "deleted" as const } : {}),
});

/** Adds likes, comments and shares by people who may see the post. */
function addResponses(builder: SocialMediaBuilder, people: readonly string[]): void {
  const { random, state } = builder;
  const canSee = (who: string, { author, visibility }: Post) => {
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
  const remaining = random.shuffle(shareTexts.slice(1));
  for (const [postId, post] of Object.entries(state.posts)) {
    // posts of today have no responses yet
    if (post.at > dayAfterStart(0)) continue;
    const audience = people.filter(it => canSee(it, post));
    if (post.likes.length === 0)
      post.likes = audience.filter(it => random.boolean(it === state.user ? 0.3 : 0.16));
    if (post.comments === "open" && audience.length > 0 && random.boolean(0.4))
      builder.addComment(
        postId,
        random.pick(audience),
        addMinutes(post.at, 10 + random.integer(200)),
        random.pick(commentTexts),
      );
    if (
      post.visibility !== "public" ||
      state.profiles[post.author]!.private ||
      post.shared !== undefined ||
      post.author === state.user ||
      !random.boolean(0.12)
    )
      continue;
    const text = remaining.pop();
    const by =
      audience.length > 0
        ? random.pick([...audience, ...(audience.includes(state.user) ? [state.user] : [])])
        : undefined;
    if (text !== undefined && by !== undefined)
      builder.addPost(by, text, addMinutes(post.at, 240 + random.integer(300)), { shared: postId });
  }
}
