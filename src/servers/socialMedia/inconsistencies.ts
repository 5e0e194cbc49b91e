/** Finds inconsistencies in a generated social network and with the shared cast. */
import type { SharedCast } from "../shared/cast.ts";
import { creators } from "./generateValues.ts";
import type { SocialMediaState } from "./state.ts";

export function findStateInconsistencies(
  { profiles, follows, posts, comments }: SocialMediaState,
  { now }: SharedCast,
): string[] {
  const problems: string[] = [];
  for (const key of ["name", "handle"] as const) {
    const all = Object.values(profiles).map(it => it[key]);
    for (const it of new Set(all))
      if (all.filter(other => other === it).length > 1)
        problems.push(`two profiles have the ${key} ${it}`);
  }
  const blocks = (by: string, whom: string) => profiles[by]!.blocks?.includes(whom) ?? false;
  const pairs = new Set<string>();
  for (const [key, it] of Object.entries(follows)) {
    if (it.follower === it.followed) problems.push(`${key} follows itself`);
    if (pairs.has(`${it.follower} ${it.followed}`)) problems.push(`${key} is there twice`);
    pairs.add(`${it.follower} ${it.followed}`);
    if (it.status === "requested" && !profiles[it.followed]!.private)
      problems.push(`${key} waits for a profile that everybody may follow`);
    if (blocks(it.followed, it.follower) || blocks(it.follower, it.followed))
      problems.push(`${key} follows in spite of a block`);
  }
  const texts = new Set<string>();
  for (const [key, it] of Object.entries(posts)) {
    if (texts.has(it.text)) problems.push(`${key} says what another says`);
    texts.add(it.text);
    if (it.at > now) problems.push(`${key} is from the future`);
    if (new Set(it.likes).size < it.likes.length) problems.push(`${key} is liked twice by one`);
    if (
      it.shared !== undefined &&
      (posts[it.shared]!.at > it.at || posts[it.shared]!.visibility !== "public")
    )
      problems.push(`${key} shares what it could not`);
  }
  for (const [key, it] of Object.entries(comments)) {
    const post = posts[it.post_id]!;
    if (post.comments === "closed") problems.push(`${key} is under a post that takes none`);
    if (it.at < post.at || it.at > now) problems.push(`${key} is from the wrong time`);
  }
  return problems;
}

export function findCastInconsistencies(
  { user, profiles }: SocialMediaState,
  cast: SharedCast,
): string[] {
  const knownNames = new Set(
    [...cast.staff, ...cast.friends]
      .map(it => it.name)
      .concat(
        [...cast.clients, ...cast.prospects, ...cast.places].map(it => it.name),
        creators.map(it => it[0]),
      ),
  );
  const strangers = Object.values(profiles)
    .filter(it => !knownNames.has(it.name))
    .map(it => `${it.name} is not in the shared cast`);
  return profiles[user]?.name === cast.user.name
    ? strangers
    : [`the user is not ${cast.user.name}`, ...strangers];
}
