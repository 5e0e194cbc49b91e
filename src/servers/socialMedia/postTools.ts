/** Tools that show, search, create and delete posts, and like, comment on and share them. */
import { z } from "zod";
import { id, label, minute, phrase } from "../../environment/fieldSchemas.ts";
import { contains, descending, equals, meets, refersTo, getSchemas } from "../kit/table.ts";
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
  SocialMediaState,
  hashtag,
  postRow,
  postLabel,
  countFollowers,
  formatPost,
  requirePostRate,
  visibilities,
  newComment,
} from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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

const tool = createToolFactory(SocialMediaState);

const newRow = posts.fields({
  ...postLabel,
  at: minute(),
  visibility: z.string(),
  hashtags: [z.array(hashtag()), it => listHashtags(it.text)],
});

export const postCommands = {
  create_post: tool({
    effect: "write",
    summary:
      "Write a post on the user's profile, for everybody unless said otherwise. At most four posts an hour.",
    input: {
      text: phrase(3, 280)
        .meta({ examples: vocabulary.posts })
        .describe("The words, with #hashtags where wanted"),
      visibility: z.enum(visibilities).optional().describe("Who sees it: public if not given"),
      comments: z
        .enum(["open", "closed"])
        .optional()
        .describe("Whether others may comment: open if not given"),
    },
    returns: {
      ...getSchemas(newRow),
      reaches: z.int().describe("Followers in whose feed it comes"),
    },
    run(state, { text, visibility = "public", comments = "open" }, { now, newId }) {
      const original = getOriginal(state);
      const duplicate = Object.entries(original.posts).find(
        ([, it]) =>
          it.author === original.user && it.status === "published" && it.text === text.trim(),
      );
      if (duplicate)
        refuse(
          "conflict",
          `you have posted exactly this on ${duplicate[1].at.slice(0, 10)} (${duplicate[0]})`,
          "choose other words",
        );
      requirePostRate(original, now);
      const post_id = newId("post");
      state.posts[post_id] = {
        author: state.user,
        at: now,
        text: text.trim(),
        visibility,
        comments,
        status: "published",
        likes: [],
      };
      return {
        ...posts.show(newRow, state, post_id, now),
        reaches: visibility === "only_me" ? 0 : countFollowers(state, state.user),
      };
    },
  }),
  delete_post: tool({
    effect: "write",
    summary:
      "Take down a post of the user's own, with its likes and comments; shares of it no longer show it.",
    destructive: true,
    input: { post_id: posts.id },
    returns: {
      deleted: z.string().describe("The words by which it was known"),
      likes: z.int(),
      shares: z.int().describe("Shares by others that no longer show it"),
    },
    run(state, { post_id }) {
      const post = posts.find(state, post_id);
      if (post.author !== state.user)
        refuse(
          "permission_denied",
          `${formatPost(state, post_id)} belongs to ${state.profiles[post.author]!.name}, and you may only delete your own`,
          "choose a post of your own",
        );
      post.status = "deleted";
      return {
        deleted: getHeadline(getVisibleText(getOriginal(state), post)),
        likes: post.likes.length,
        shares: countShares(state, post_id),
      };
    },
  }),
};

const likedRow = posts.fields({ ...postLabel, likes: [z.int(), it => it.likes.length] });

export const responseTools = {
  like_post: tool({
    effect: "write",
    summary: "Like a post that the user may see.",
    idempotent: true,
    input: { post_id: posts.id },
    returns: getSchemas(likedRow),
    run(state, { post_id }, { now }) {
      const post = posts.find(state, post_id);
      if (post.likes.includes(state.user))
        refuse(
          "conflict",
          `you already like ${formatPost(state, post_id)} by ${state.profiles[post.author]!.name}`,
        );
      post.likes = [...post.likes, state.user];
      return posts.show(likedRow, state, post_id, now);
    },
  }),
  comment_on_post: tool({
    effect: "write",
    summary: "Write a comment under a post, if its author lets people comment.",
    input: { post_id: posts.id, text: newComment.describe("What to say") },
    returns: { ...getSchemas(postLabel), comment_id: id("comment"), comments: z.int() },
    run(state, { post_id, text }, { now, newId }) {
      const post = posts.find(state, post_id);
      if (post.comments === "closed")
        refuse(
          "precondition_failed",
          `${state.profiles[post.author]!.name} has closed the comments under ${formatPost(state, post_id)}`,
          "social_media_like_post likes it instead",
        );
      const comments = Object.values(getOriginal(state).comments).filter(
        it => it.post_id === post_id,
      );
      if (comments.some(it => it.by === state.user && it.text === text.trim()))
        refuse("conflict", `you have said exactly this under ${formatPost(state, post_id)} before`);
      const comment_id = newId("cmt");
      state.comments[comment_id] = { post_id, by: state.user, at: now, text: text.trim() };
      return {
        ...posts.show(postLabel, state, post_id, now),
        comment_id,
        comments: comments.length + 1,
      };
    },
  }),
  share_post: tool({
    effect: "write",
    summary:
      "Pass on somebody else's public post to the user's followers, with words of their own if wanted. It counts as a post.",
    input: { post_id: posts.id, text: newComment.optional().describe("What to say about it") },
    returns: {
      post: label("post"),
      post_id: id("post").describe("Of the share"),
      at: minute(),
      passes_on: z
        .object({ post: label("post"), post_id: id("post"), shares: z.int() })
        .describe("The post itself"),
    },
    run(state, { post_id, text }, { now, newId }) {
      const { author, visibility, shared } = posts.find(state, post_id);
      const { name, private: isPrivate } = state.profiles[author]!;
      if (author === state.user)
        refuse(
          "precondition_failed",
          `${formatPost(state, post_id)} is your own`,
          "choose a post of somebody else",
        );
      if (shared !== undefined)
        refuse(
          "precondition_failed",
          `${formatPost(state, post_id)} only passes on another`,
          `share ${shared} itself`,
        );
      if (isPrivate || visibility !== "public")
        refuse(
          "permission_denied",
          `${formatPost(state, post_id)} is for the followers of ${name} alone and cannot be shared`,
          "choose a public post",
        );
      const original = getOriginal(state);
      const existing = Object.entries(original.posts).find(
        ([, it]) =>
          it.author === original.user && it.shared === post_id && it.status === "published",
      );
      if (existing)
        refuse(
          "conflict",
          `you have shared ${formatPost(state, post_id)} on ${existing[1].at.slice(0, 10)} (${existing[0]})`,
        );
      requirePostRate(original, now);
      const shareId = newId("post");
      state.posts[shareId] = {
        author: state.user,
        at: now,
        text: text?.trim() ?? "",
        visibility: "public",
        comments: "open",
        status: "published",
        likes: [],
        shared: post_id,
      };
      const originalPost = original.posts[post_id]!;
      return {
        post: getHeadline(text?.trim() || originalPost.text),
        post_id: shareId,
        at: now,
        passes_on: {
          post: getHeadline(originalPost.text),
          post_id,
          shares: countShares(state, post_id) + 1,
        },
      };
    },
  }),
};
