/** Tools that show and search posts and the feed. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { contains, descending, equals, meets, refersTo } from "../kit/table.ts";
import {
  canSee,
  comments,
  countShares,
  getFullText,
  getHeadline,
  getVisibleText,
  isFollowing,
  isOriginalVisible,
  listHashtags,
  posts,
  visibleProfiles,
  type Post,
  type SocialMediaState,
} from "./state.ts";
import { hashtag, postRow } from "./parameters.ts";

/** The post that a post shares, if the user can see it. */
function describeOriginal(state: SocialMediaState, post: Post) {
  if (post.shared === undefined || !isOriginalVisible(state, post)) return undefined;
  const { text, author } = state.posts[post.shared]!;
  return {
    post: getHeadline(text),
    post_id: post.shared,
    author: state.profiles[author]!.name,
    author_id: author,
  };
}

export const postQueries = {
  get_post: posts.get({
    summary:
      "Get one post in full: its words, likes, shares and latest comments, and whether the user likes it.",
    row: {
      ...postRow,
      likes: [z.int(), it => it.likes.length],
      hashtags: [z.array(hashtag()), (it, { world }) => listHashtags(getVisibleText(world, it))],
      text: z.string(),
      visibility: z.string(),
      comments_open: [z.boolean(), it => it.comments === "open"],
      shares: [z.int(), (_, { id: postId, world }) => countShares(world, postId)],
      liked: [
        z.boolean().describe("Whether the user likes it"),
        (it, { world }) => it.likes.includes(world.user),
      ],
      passes_on: [
        z
          .object({
            post: label("post"),
            post_id: id("post"),
            author: label("profile"),
            author_id: id("profile"),
          })
          .optional()
          .describe("Of a share, the post itself"),
        (it, { world }) => describeOriginal(world, it),
      ],
      original_gone: [
        z
          .boolean()
          .optional()
          .describe("Of a share, true if the post itself cannot be seen any more"),
        (it, { world }) => !isOriginalVisible(world, it) || undefined,
      ],
      comments: [
        z.int(),
        (_, { id: postId, world }) =>
          Object.values(world.comments).filter(it => it.post_id === postId).length,
      ],
      latest_comments: comments.related({
        row: {
          comment_id: comments.idField,
          by: [label("profile"), (it, { world }) => world.profiles[it.by]!.name],
          by_id: [id("profile"), it => it.by],
          at: minute(),
          text: z.string(),
        },
        where: (it, { id: postId }) => it.post_id === postId,
        order: descending(it => it.at, { latestId: true }),
        limit: 3,
      }),
    },
  }),
  get_feed: posts.list({
    summary:
      "Get the user's feed, newest first: their own posts and shares and those of the profiles they follow.",
    filters: {
      before: meets(
        minute(),
        "Only posts before this time, to read on, YYYY-MM-DDTHH:MM",
        (it, end) => it.at < end,
      ),
      own: equals(
        z.boolean(),
        "True for the user's own posts only, false for those of others",
        (it, { user }) => it.author === user,
      ),
    },
    where: (it, _, { world }) =>
      (it.author === world.user || isFollowing(world, it.author)) &&
      canSee(world, it) &&
      isOriginalVisible(world, it),
    order: descending(it => it.at, { latestId: true }),
    limit: 6,
    row: postRow,
  }),
  search_posts: posts.list({
    summary:
      "Find posts of everybody that the user may see, newest first, by words, hashtag or author.",
    filters: {
      query: contains(label("post"), "Only posts whose words contain this", (it, state) =>
        getFullText(state, it),
      ),
      hashtag: meets(
        hashtag(),
        "Only posts with this hashtag, with or without #",
        (it, text: string, { world }) =>
          text === "" || listHashtags(getFullText(world, it)).includes(text),
        (_, text) => text.trim().toLowerCase().replace(/^#/, ""),
      ),
      author_id: refersTo(visibleProfiles, "Only posts of this profile", it => it.author),
    },
    where: (it, _, { world }) => canSee(world, it) && isOriginalVisible(world, it),
    order: descending(it => it.at, { latestId: true }),
    limit: 10,
    row: postRow,
  }),
};
