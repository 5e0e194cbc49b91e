/** Tests every social media tool: results, changes to the state, and refusals. */
import { describe, test } from "vitest";
import { server as socialMedia } from "../../src/servers/socialMedia/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(socialMedia);

const [ana, ben, chloe, rosa, clara, marco, cafe, drawer, printer] = [
  "pro_101",
  "pro_104",
  "pro_107",
  "pro_113",
  "pro_116",
  "pro_119",
  "pro_122",
  "pro_125",
  "pro_128",
] as const;
const [posters, wall, gone, typeface, sketches, colours, bread, cake, boxes, menu, heron, share] = [
  "post_101",
  "post_104",
  "post_107",
  "post_110",
  "post_113",
  "post_116",
  "post_119",
  "post_122",
  "post_125",
  "post_128",
  "post_131",
  "post_137",
] as const;

const profile = (profile_id: string): Call => ["get_profile", { profile_id }];
const follow = (profile_id: string): Call => ["follow_user", { profile_id }];
const unfollow = (profile_id: string): Call => ["unfollow_user", { profile_id }];
const get = (post_id: string): Call => ["get_post", { post_id }];
const like = (post_id: string): Call => ["like_post", { post_id }];
const write = (text: string, more: object = {}): Call => ["create_post", { text, ...more }];

describe("profiles", () => {
  test("the user's own has the number of requests", () =>
    check(
      [profile(ana)],
      returns({
        name: "Ana Ruiz",
        profile_id: ana,
        handle: "ana",
        private: true,
        followers: 3,
        following: 4,
        posts: 3,
        you: "none",
        requests: 1,
      }),
    ));
  test("those of others have the follow status", () =>
    check(
      [profile(ben)],
      returns({ name: "Ben Okafor", followers: 2, following: 1, posts: 1, you: "following" }),
    ));
  test("show their latest posts", () =>
    check(
      [profile(chloe)],
      returns({
        posts: 1,
        latest_posts: [{ post: "Colour tests for a spring catalogue", post_id: colours }],
      }),
    ));
  test("a private one hides its posts from others", () =>
    check([profile(marco)], returns({ private: true, posts: 0, you: "none" })));
  test("blocked ones are refused in either direction", () => {
    check(
      [profile(drawer)],
      refuses("permission_denied", /you have blocked Lena Fischer \(@lenadraws\)/),
    );
    check(
      [profile(printer)],
      refuses("permission_denied", /Pablo Serra \(@pabloserra\) has blocked you/),
    );
  });
  test("unknown ones are refused", () =>
    check([profile("__proto__")], refuses("not_found", /no profile __proto__/)));
  test("are found by name or handle", () => {
    check(
      [["search_users", { query: "@CHLO" }]],
      returns({
        profiles: [{ name: "Chloe Martin", profile_id: chloe, handle: "chloe", kind: "person" }],
      }),
    );
    check([["search_users", { kind: "business" }]], returns({ profiles: [{ profile_id: cafe }] }));
    check([["search_users", { query: "serra", city: "Lisbon" }]], returns({ profiles: [] }));
  });
  test("beyond the limit are refused", () =>
    check([["search_users", { limit: 51 }]], refuses("invalid_params", /limit/)));
  test("are changed", () =>
    check(
      [["update_profile", { bio: "New words", city: "Porto" }], profile(ana)],
      returns({ bio: "New words", city: "Porto", link: "ana.example" }),
    ));
  test("accept all requests when made public", () =>
    check(
      [
        ["update_profile", { private: false }],
        ["list_followers", { name: "marco" }],
      ],
      returns({ followers: [{ name: "Marco Bianchi", profile_id: marco, since: "2026-03-02" }] }),
    ));
  test("return the number of accepted requests", () =>
    check([["update_profile", { private: false }]], returns({ changed: ["private"], let_in: 1 })));
  test("refuse a change to the same values", () =>
    check([["update_profile", { private: true }]], refuses("conflict", /like that already/)));
  test("refuse a change without values", () =>
    check([["update_profile", {}]], refuses("invalid_params", /nothing to change/)));
  test("refuse invalid links", () =>
    check(
      [["update_profile", { link: "javascript:alert(1)" }]],
      refuses("invalid_params", /link/),
    ));
});

describe("following", () => {
  test("a public profile is immediate", () =>
    check([follow(chloe)], returns({ status: "following", followers: 1 })));
  test("adds posts to the feed", () =>
    check(
      [follow(chloe), ["get_feed", { own: false, limit: 3 }]],
      returns({
        posts: [
          { post_id: bread },
          { post_id: typeface },
          { post_id: sketches, author: "Chloe Martin" },
        ],
      }),
    ));
  test("a private profile gets a request", () =>
    check(
      [follow(marco), ["list_following", { status: "requested" }]],
      returns({ following: [{ name: "Marco Bianchi", waits: true, since: "2026-03-09" }] }),
    ));
  test("happens once", () => {
    check([follow(ben)], refuses("conflict", /you follow Ben Okafor \(@ben\) since 2025-11-06/));
    check([follow(marco), follow(marco)], refuses("conflict", /wait for an answer/));
  });
  test("refuses blocked profiles and the user's own", () => {
    check([follow(printer)], refuses("permission_denied", /has blocked you/));
    check([follow(ana)], refuses("invalid_params", /follows themselves/));
  });
  test("ends", () => check([unfollow(ben), profile(ben)], returns({ followers: 1, you: "none" })));
  test("cancels a request", () =>
    check([follow(marco), unfollow(marco)], returns({ ended: "requested" })));
  test("ends once", () =>
    check([unfollow(clara)], refuses("precondition_failed", /do not follow Clara Mendes/)));
  test("lists followers, those who ask as well", () =>
    check(
      [["list_followers", { limit: 2 }]],
      returns({ followers: [{ name: "Marco Bianchi", waits: true }, { name: "Rosa Ruiz" }] }),
    ));
  test("lists followers of others", () =>
    check(
      [["list_followers", { profile_id: ben }]],
      returns({ followers: [{ name: "Chloe Martin" }, { name: "Ana Ruiz" }] }),
    ));
  test("refuses to list those of private profiles", () => {
    check(
      [["list_followers", { profile_id: marco }]],
      refuses("permission_denied", /Marco Bianchi \(@marco\) is private/),
    );
    check([["list_following", { profile_id: marco }]], refuses("permission_denied", /private/));
  });
});

describe("posts", () => {
  test("are named by their first sentence", () =>
    check(
      [get(posters)],
      returns({
        post: "Poster series for the theatre is done",
        likes: 2,
        hashtags: ["posters", "print"],
        comments: 1,
        latest_comments: [{ by: "Ben Okafor", by_id: ben, text: "Congratulations!" }],
        liked: false,
      }),
    ));
  test("have their shares", () => {
    check([get(colours)], returns({ shares: 1 }));
    check(
      [get(share)],
      returns({
        text: "You need to see this one.",
        hashtags: ["colour", "design"],
        passes_on: { post_id: colours, author: "Chloe Martin" },
      }),
    );
  });
  test("of private profiles, deleted and unknown ones are refused", () => {
    check([get(boxes)], refuses("permission_denied", /private, and you do not follow/));
    check([get(gone)], refuses("precondition_failed", /was deleted/));
    check([get("post_1")], refuses("not_found", /no post post_1/));
  });
  test("for followers are refused to others", () =>
    check([get(sketches)], refuses("permission_denied", /for the followers of Chloe Martin/)));
  test("for followers are shown to them", () =>
    check([get(cake)], returns({ author: "Rosa Ruiz", author_id: rosa, visibility: "followers" })));
  test("of blocked profiles are refused", () => {
    check([get(heron)], refuses("permission_denied", /you have blocked/));
    check([["search_posts", { query: "heron" }]], returns({ posts: [] }));
  });
  test("are created", () =>
    check(
      [write("Ink day. #print #ink"), ["get_feed", { limit: 1 }]],
      returns({ posts: [{ post: "Ink day", author: "Ana Ruiz", at: "2026-03-09T09:00" }] }),
    ));
  test("reach followers: three of them", () =>
    check([write("Ink day.")], returns({ visibility: "public", reaches: 3 })));
  test("for the user alone reach nobody", () =>
    check([write("Ink day.", { visibility: "only_me" })], returns({ reaches: 0 })));
  test("are at most four an hour: one is from 08:40", () =>
    check(
      [write("One more."), write("Two more."), write("Three more."), write("Four more.")],
      refuses("limit_exceeded", /posted 4 times since 2026-03-09T08:40/),
    ));
  test("with the same text are refused", () =>
    check(
      [write("We painted the studio wall yellow. No regrets. #studio")],
      refuses("conflict", /exactly this on 2026-03-09/),
    ));
  test("without text are refused", () => check([write("   ")], refuses("invalid_params", /text/)));
  test("need words", () => check([["create_post", {}]], rejectsArguments(/text/)));
  test("are deleted", () =>
    check(
      [["delete_post", { post_id: posters }], get(posters)],
      refuses("precondition_failed", /was deleted/),
    ));
  test("are deleted with likes and shares", () =>
    check(
      [["delete_post", { post_id: posters }]],
      returns({ deleted: "Poster series for the theatre is done", likes: 2, shares: 0 }),
    ));
  test("are deleted by their authors only", () =>
    check(
      [["delete_post", { post_id: typeface }]],
      refuses("permission_denied", /belongs to Ben Okafor/),
    ));
});

describe("looking around", () => {
  test("the feed is newest first, own posts among it", () =>
    check(
      [["get_feed", { limit: 4 }]],
      returns({
        posts: [{ post_id: wall }, { post_id: bread }, { post_id: typeface }, { post_id: menu }],
      }),
    ));
  test("the feed continues before a time", () =>
    check(
      [["get_feed", { before: "2026-03-07T08:30", own: true }]],
      returns({ posts: [{ post_id: posters }, { post_id: share }] }),
    ));
  test("the feed refuses an invalid time", () =>
    check([["get_feed", { before: "2026-02-30T10:00" }]], refuses("invalid_params", /before/)));
  test("posts are found by hashtag, with or without #", () => {
    check(
      [["search_posts", { hashtag: "#Design" }]],
      returns({ posts: [{ post_id: share }, { post_id: colours }] }),
    );
    check(
      [["search_posts", { hashtag: "baking" }]],
      returns({ posts: [{ post_id: bread }, { post_id: cake }] }),
    );
  });
  test("posts are found by author", () =>
    check([["search_posts", { author_id: chloe }]], returns({ posts: [{ post_id: colours }] })));
  test("posts of private authors are refused", () =>
    check([["search_posts", { author_id: marco }]], refuses("permission_denied", /private/)));
});

describe("answers", () => {
  test("likes count", () =>
    check([like(colours)], returns({ post: "Colour tests for a spring catalogue", likes: 2 })));
  test("likes are shown", () =>
    check([like(colours), get(colours)], returns({ likes: 2, liked: true })));
  test("a post is liked once", () =>
    check(
      [like(typeface)],
      refuses(
        "conflict",
        /already like the post "New typeface on trial today" \(post_110\) by Ben Okafor/,
      ),
    ));
  test("private and deleted posts cannot be liked", () => {
    check([like(boxes)], refuses("permission_denied", /private/));
    check([like(gone)], refuses("precondition_failed", /deleted/));
  });
  const say = (post_id: string, text = "Lovely!"): Call => ["comment_on_post", { post_id, text }];
  test("comments are counted and shown", () =>
    check(
      [say(typeface), get(typeface)],
      returns({
        comments: 2,
        latest_comments: [
          { by: "Ana Ruiz", text: "Lovely!", at: "2026-03-09T09:00" },
          { text: "The second one, please." },
        ],
      }),
    ));
  test("comments can be closed", () =>
    check([say(bread)], refuses("precondition_failed", /Paul Ruiz has closed the comments/)));
  test("the same comment is refused", () =>
    check([say(typeface, "The second one, please.")], refuses("conflict", /exactly this/)));
  const pass = (post_id: string, more: object = {}): Call => ["share_post", { post_id, ...more }];
  test("shares contain the original post", () =>
    check(
      [pass(typeface, { text: "Look!" })],
      returns({ post: "Look", passes_on: { post_id: typeface, shares: 1 } }),
    ));
  test("shares appear in the feed", () =>
    check(
      [pass(typeface), ["get_feed", { limit: 1 }]],
      returns({
        posts: [{ post: "New typeface on trial today", author: "Ana Ruiz", author_id: ana }],
      }),
    ));
  test("shares count as posts", () =>
    check(
      [pass(typeface), pass(menu), write("One more."), write("Two more.")],
      refuses("limit_exceeded", /4 posts an hour/),
    ));
  test("shares are of others' public posts, once", () => {
    check(
      [pass(wall)],
      refuses(
        "precondition_failed",
        /"We painted the studio wall yellow" \(post_104\) is your own/,
      ),
    );
    check([pass(cake)], refuses("permission_denied", /cannot be shared/));
    check(
      [pass(colours)],
      refuses("conflict", /shared the post "Colour .* \(post_116\) on 2026-03-06 \(post_137\)/),
    );
  });
});

describe("loopholes", () => {
  const hide = (id: string) => ({ edits: { [`posts.${id}.visibility`]: "only_me" } });
  const refusesWith = (type: string, message: string) => ({ kind: "refused", type, message });
  test("a post that is for its author alone is not quoted", () =>
    check(
      [get(colours)],
      refusesWith("permission_denied", `post ${colours} is for Chloe Martin alone`),
      hide(colours),
    ));
  test("a post for followers is not quoted to others", () =>
    check(
      [like(sketches)],
      refusesWith(
        "permission_denied",
        `post ${sketches} is for the followers of Chloe Martin, and you are not one`,
      ),
    ));
  test("a post that its author has deleted is not quoted", () =>
    check(
      [get(colours)],
      refusesWith("precondition_failed", `post ${colours} was deleted by Chloe Martin`),
      { edits: { [`posts.${colours}.status`]: "deleted" } },
    ));
  const hideShared = {
    edits: { ...hide(colours).edits, [`posts.${share}.text`]: "" },
  };
  test("a share without words does not quote a post that is hidden now", () =>
    check([like(share)], returns({ post: "a post without words" }), hideShared));
  test("nor does the profile that has shared it", () =>
    check(
      [profile(ana)],
      returns({
        latest_posts: [{ post_id: wall }, { post_id: posters }, { post: "a post without words" }],
      }),
      hideShared,
    ));
  test("nor does deleting the share", () =>
    check(
      [["delete_post", { post_id: share }]],
      returns({ deleted: "a post without words" }),
      hideShared,
    ));
  test("deleting posts does not allow more posts an hour", () =>
    check(
      [
        write("One for the morning."),
        ["delete_post", { post_id: wall }],
        write("Two for the road."),
        write("Three is a crowd."),
        write("Four is too many."),
      ],
      refuses("limit_exceeded", /you have posted 4 times since 2026-03-09T08:40/),
    ));
});

checkAllTools();
