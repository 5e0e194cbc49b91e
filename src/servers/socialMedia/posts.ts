/**
 * The network's tools for posts: written, taken down, read one by one, in the feed or by words,
 * liked, commented on and shared.
 */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  given,
  hashtag,
  limit,
  newComment,
  newPost,
  postId,
  postRow,
  profileId,
  rowOf,
  visibility,
} from "./words.ts";
import {
  byTime,
  canSee,
  hashtagsIn,
  headline,
  isFollowing,
  named,
  Network,
  notTooFast,
  openTo,
  postOf,
  type Post,
} from "./state.ts";

const tool = createToolFactory(Network);

const shownComments = 3;
const pageOfFeed = 6;

/** Words of the post, or of the one that it passes on. */
const wordsOf = ({ posts }: Network, { text, shared }: Post): string =>
  shared === undefined ? text : `${text} ${posts[shared]!.text}`;

export const writing = {
  create_post: tool({
    effect: "write",
    summary:
      "Write a post on the user's profile, for everybody unless said otherwise. At most four posts an hour.",
    input: {
      text: newPost.describe("The words, with #hashtags where wanted"),
      visibility: visibility.describe("Who sees it: public if not given"),
      comments: z
        .enum(["open", "closed"])
        .optional()
        .describe("Whether others may comment: open if not given"),
    },
    returns: {
      post: label("post"),
      post_id: id("post"),
      at: minute(),
      visibility: z.string(),
      hashtags: z.array(hashtag()),
      reaches: z.int().describe("Followers in whose feed it comes"),
    },
    run(network, { text, visibility: seenBy = "public", comments = "open" }, { now, newId }) {
      const old = getOriginal(network);
      const same = Object.entries(old.posts).find(
        ([, it]) => it.author === old.user && it.status === "published" && it.text === text.trim(),
      );
      if (same)
        refuse(
          "conflict",
          `you have posted exactly this on ${same[1].at.slice(0, 10)} (${same[0]})`,
          "choose other words",
        );
      notTooFast(old, now);
      const post_id = newId("post");
      network.posts[post_id] = {
        author: network.user,
        at: now,
        text: text.trim(),
        visibility: seenBy,
        comments,
        status: "published",
        likes: [],
      };
      const reaches =
        seenBy === "only_me"
          ? 0
          : Object.values(old.follows).filter(
              it => it.followed === old.user && it.status === "following",
            ).length;
      return {
        post: headline(text.trim()),
        post_id,
        at: now,
        visibility: seenBy,
        hashtags: hashtagsIn(text),
        reaches,
      };
    },
  }),
  delete_post: tool({
    effect: "write",
    summary:
      "Take down a post of the user's own, with its likes and comments; shares of it no longer show it.",
    destructive: true,
    input: { post_id: postId },
    returns: {
      deleted: z.string().describe("The words by which it was known"),
      likes: z.int(),
      shares: z.int().describe("Shares by others that no longer show it"),
    },
    run(network, { post_id }) {
      const post = postOf(network, post_id);
      if (post.author !== network.user)
        refuse(
          "permission_denied",
          `${named(network, post_id)} belongs to ${network.profiles[post.author]!.name}, and you may only delete your own`,
          "choose a post of your own",
        );
      post.status = "deleted";
      const shares = Object.values(getOriginal(network).posts).filter(
        it => it.shared === post_id && it.status === "published",
      ).length;
      return {
        deleted: headline(wordsOf(getOriginal(network), post)),
        likes: post.likes.length,
        shares,
      };
    },
  }),
};

export const reading = {
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
      return given({
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

/** False of a share whose post the user cannot see any more. */
const showsSomething = (network: Network, { shared }: Post): boolean =>
  shared === undefined || canSee(network, network.posts[shared]!);

export const answering = {
  like_post: tool({
    effect: "write",
    summary: "Like a post that the user may see.",
    idempotent: true,
    input: { post_id: postId },
    returns: { post: label("post"), post_id: id("post"), likes: z.int() },
    run(network, { post_id }) {
      const post = postOf(network, post_id);
      if (post.likes.includes(network.user))
        refuse(
          "conflict",
          `you already like ${named(network, post_id)} by ${network.profiles[post.author]!.name}`,
        );
      post.likes = [...post.likes, network.user];
      return {
        post: rowOf(getOriginal(network), post_id, post).post,
        post_id,
        likes: post.likes.length,
      };
    },
  }),
  comment_on_post: tool({
    effect: "write",
    summary: "Write a comment under a post, if its author lets people comment.",
    input: { post_id: postId, text: newComment.describe("What to say") },
    returns: {
      post: label("post"),
      post_id: id("post"),
      comment_id: id("comment"),
      comments: z.int(),
    },
    run(network, { post_id, text }, { now, newId }) {
      const post = postOf(network, post_id);
      if (post.comments === "closed")
        refuse(
          "precondition_failed",
          `${network.profiles[post.author]!.name} has closed the comments under ${named(network, post_id)}`,
          "social_media_like_post likes it instead",
        );
      const others = Object.values(getOriginal(network).comments).filter(
        it => it.post_id === post_id,
      );
      if (others.some(it => it.by === network.user && it.text === text.trim()))
        refuse("conflict", `you have said exactly this under ${named(network, post_id)} before`);
      const comment_id = newId("cmt");
      network.comments[comment_id] = { post_id, by: network.user, at: now, text: text.trim() };
      return {
        post: rowOf(getOriginal(network), post_id, post).post,
        post_id,
        comment_id,
        comments: others.length + 1,
      };
    },
  }),
  share_post: tool({
    effect: "write",
    summary:
      "Pass on somebody else's public post to the user's followers, with words of their own if wanted. It counts as a post.",
    input: { post_id: postId, text: newComment.optional().describe("What to say about it") },
    returns: {
      post: label("post"),
      post_id: id("post").describe("Of the share"),
      at: minute(),
      passes_on: z
        .object({ post: label("post"), post_id: id("post"), shares: z.int() })
        .describe("The post itself"),
    },
    run(network, { post_id, text }, { now, newId }) {
      const { author, visibility: seenBy, shared } = postOf(network, post_id);
      const { name, private: isPrivate } = network.profiles[author]!;
      if (author === network.user)
        refuse(
          "precondition_failed",
          `${named(network, post_id)} is your own`,
          "choose a post of somebody else",
        );
      if (shared !== undefined)
        refuse(
          "precondition_failed",
          `${named(network, post_id)} only passes on another`,
          `share ${shared} itself`,
        );
      if (isPrivate || seenBy !== "public")
        refuse(
          "permission_denied",
          `${named(network, post_id)} is for the followers of ${name} alone and cannot be shared`,
          "choose a public post",
        );
      const old = getOriginal(network);
      const own = Object.entries(old.posts).find(
        ([, it]) => it.author === old.user && it.shared === post_id && it.status === "published",
      );
      if (own)
        refuse(
          "conflict",
          `you have shared ${named(network, post_id)} on ${own[1].at.slice(0, 10)} (${own[0]})`,
        );
      notTooFast(old, now);
      const shareId = newId("post");
      network.posts[shareId] = {
        author: network.user,
        at: now,
        text: text?.trim() ?? "",
        visibility: "public",
        comments: "open",
        status: "published",
        likes: [],
        shared: post_id,
      };
      const original = findEntity(old.posts, post_id, "post");
      return {
        post: headline(text?.trim() || original.text),
        post_id: shareId,
        at: now,
        passes_on: {
          post: headline(original.text),
          post_id,
          shares:
            Object.values(old.posts).filter(
              it => it.shared === post_id && it.status === "published",
            ).length + 1,
        },
      };
    },
  }),
};
