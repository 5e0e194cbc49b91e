/** Tools that show and search posts and the feed. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { showsSomething, wordsOf } from "./postText.ts";
import {
  byTime,
  canSee,
  hashtagsIn,
  headline,
  isFollowing,
  openTo,
  postOf,
  Network,
  type Post,
} from "./state.ts";
import { hashtag, limit, postId, postRow, profileId, rowOf } from "./parameters.ts";

const tool = createToolFactory(Network);

const shownComments = 3;

const pageOfFeed = 6;

export const postQueries = {
  get_post: tool({
    effect: "read",
    summary:
      "Get one post in full: its words, likes, shares and latest comments, and whether the user likes it.",
    input: { post_id: postId },
    returns: {
      ...postRow,
      likes: z.int(),
      hashtags: z.array(hashtag()),
      text: z.string(),
      visibility: z.string(),
      comments_open: z.boolean(),
      shares: z.int(),
      liked: z.boolean().describe("Whether the user likes it"),
      passes_on: z
        .object({
          post: label("post"),
          post_id: id("post"),
          author: label("profile"),
          author_id: id("profile"),
        })
        .optional()
        .describe("Of a share, the post itself"),
      original_gone: z
        .boolean()
        .optional()
        .describe("Of a share, true if the post itself cannot be seen any more"),
      comments: z.int(),
      latest_comments: z
        .array(
          z.object({
            comment_id: id("comment"),
            by: label("profile"),
            by_id: id("profile"),
            at: minute(),
            text: z.string(),
          }),
        )
        .optional(),
    },
    run(network, { post_id }) {
      const post = postOf(network, post_id);
      const comments = Object.entries(network.comments)
        .filter(([, it]) => it.post_id === post_id)
        .sort(byTime);
      const latest = comments.slice(0, shownComments).map(([comment_id, it]) => ({
        comment_id,
        by: network.profiles[it.by]!.name,
        by_id: it.by,
        at: it.at,
        text: it.text,
      }));
      const original = post.shared === undefined ? undefined : network.posts[post.shared]!;
      const isGone = original !== undefined && !canSee(network, original);
      return omitUndefined({
        ...rowOf(network, post_id, isGone ? { ...post, shared: undefined } : post),
        likes: post.likes.length,
        hashtags: hashtagsIn(isGone ? post.text : wordsOf(network, post)),
        text: post.text,
        visibility: post.visibility,
        comments_open: post.comments === "open",
        shares: Object.values(network.posts).filter(
          it => it.shared === post_id && it.status === "published",
        ).length,
        liked: post.likes.includes(network.user),
        passes_on:
          original && !isGone
            ? {
                post: headline(original.text),
                post_id: post.shared!,
                author: network.profiles[original.author]!.name,
                author_id: original.author,
              }
            : undefined,
        original_gone: isGone || undefined,
        comments: comments.length,
        latest_comments: latest.length ? latest : undefined,
      });
    },
  }),
  get_feed: tool({
    effect: "read",
    summary:
      "Get the user's feed, newest first: their own posts and shares and those of the profiles they follow.",
    input: {
      before: minute()
        .optional()
        .describe("Only posts before this time, to read on, YYYY-MM-DDTHH:MM"),
      own: z
        .boolean()
        .optional()
        .describe("True for the user's own posts only, false for those of others"),
      limit: limit.describe(`At most this many, ${pageOfFeed} if not given`),
    },
    returns: { posts: z.array(z.object(postRow)) },
    run(network, { before: end, own, limit: most = pageOfFeed }) {
      const isMine = (it: Post) => it.author === network.user;
      const found = Object.entries(network.posts).filter(
        ([, it]) =>
          (isMine(it) || isFollowing(network, it.author)) &&
          canSee(network, it) &&
          showsSomething(network, it) &&
          (!end || it.at < end) &&
          (own === undefined || own === isMine(it)),
      );
      return {
        posts: found
          .sort(byTime)
          .slice(0, most)
          .map(([key, it]) => rowOf(network, key, it)),
      };
    },
  }),
  search_posts: tool({
    effect: "read",
    summary:
      "Find posts of everybody that the user may see, newest first, by words, hashtag or author.",
    input: {
      query: label("post").optional().describe("Only posts whose words contain this"),
      hashtag: hashtag().optional().describe("Only posts with this hashtag, with or without #"),
      author_id: profileId.optional().describe("Only posts of this profile"),
      limit,
    },
    returns: { posts: z.array(z.object(postRow)) },
    run(network, { query, hashtag: tag, author_id, limit: most = 10 }) {
      if (author_id !== undefined) openTo(network, author_id);
      const wanted = tag?.trim().toLowerCase().replace(/^#/, "");
      const found = Object.entries(network.posts).filter(
        ([, it]) =>
          (!author_id || it.author === author_id) &&
          (!query || containsText(wordsOf(network, it), query)) &&
          (!wanted || hashtagsIn(wordsOf(network, it)).includes(wanted)) &&
          canSee(network, it) &&
          showsSomething(network, it),
      );
      return {
        posts: found
          .sort(byTime)
          .slice(0, most)
          .map(([key, it]) => rowOf(network, key, it)),
      };
    },
  }),
};
