/** Tools that show and search posts and the feed. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { isOriginalVisible, getFullText } from "./postText.ts";
import {
  compareNewestFirst,
  canSee,
  listHashtags,
  getHeadline,
  isFollowing,
  findVisibleProfile,
  findPost,
  SocialMediaState,
  type Post,
} from "./state.ts";
import { hashtag, limit, postId, postRow, profileId, createPostRow } from "./parameters.ts";

const tool = createToolFactory(SocialMediaState);

const maxLatestComments = 3;

const feedPageSize = 6;

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
    run(state, { post_id }) {
      const post = findPost(state, post_id);
      const comments = Object.entries(state.comments)
        .filter(([, it]) => it.post_id === post_id)
        .sort(compareNewestFirst);
      const latestComments = comments.slice(0, maxLatestComments).map(([comment_id, it]) => ({
        comment_id,
        by: state.profiles[it.by]!.name,
        by_id: it.by,
        at: it.at,
        text: it.text,
      }));
      const original = post.shared === undefined ? undefined : state.posts[post.shared]!;
      const isGone = original !== undefined && !canSee(state, original);
      return omitUndefined({
        ...createPostRow(state, post_id, post),
        likes: post.likes.length,
        hashtags: listHashtags(isGone ? post.text : getFullText(state, post)),
        text: post.text,
        visibility: post.visibility,
        comments_open: post.comments === "open",
        shares: Object.values(state.posts).filter(
          it => it.shared === post_id && it.status === "published",
        ).length,
        liked: post.likes.includes(state.user),
        passes_on:
          original && !isGone
            ? {
                post: getHeadline(original.text),
                post_id: post.shared!,
                author: state.profiles[original.author]!.name,
                author_id: original.author,
              }
            : undefined,
        original_gone: isGone || undefined,
        comments: comments.length,
        latest_comments: latestComments.length ? latestComments : undefined,
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
      limit: limit.describe(`At most this many, ${feedPageSize} if not given`),
    },
    returns: { posts: z.array(z.object(postRow)) },
    run(state, { before: end, own, limit = feedPageSize }) {
      const isMine = (it: Post) => it.author === state.user;
      const matches = Object.entries(state.posts).filter(
        ([, it]) =>
          (isMine(it) || isFollowing(state, it.author)) &&
          canSee(state, it) &&
          isOriginalVisible(state, it) &&
          (!end || it.at < end) &&
          (own === undefined || own === isMine(it)),
      );
      return {
        posts: matches
          .sort(compareNewestFirst)
          .slice(0, limit)
          .map(([key, it]) => createPostRow(state, key, it)),
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
    run(state, { query, hashtag, author_id, limit = 10 }) {
      if (author_id !== undefined) findVisibleProfile(state, author_id);
      const normalizedHashtag = hashtag?.trim().toLowerCase().replace(/^#/, "");
      const matches = Object.entries(state.posts).filter(
        ([, it]) =>
          (!author_id || it.author === author_id) &&
          (!query || containsText(getFullText(state, it), query)) &&
          (!normalizedHashtag ||
            listHashtags(getFullText(state, it)).includes(normalizedHashtag)) &&
          canSee(state, it) &&
          isOriginalVisible(state, it),
      );
      return {
        posts: matches
          .sort(compareNewestFirst)
          .slice(0, limit)
          .map(([key, it]) => createPostRow(state, key, it)),
      };
    },
  }),
};
