/** Tools that change the mode and the owner of entries. */
import { z } from "zod";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { getDraft } from "./treeEdits.ts";
import { shorten, formatPath, type ExistingPath } from "./pathFormat.ts";
import { permissionBits, requireOwner, type Permission } from "./permissions.ts";
import { findEntry } from "./lookups.ts";
import { FilesystemState } from "./state.ts";
import { path } from "./parameters.ts";

const tool = createToolFactory(FilesystemState);

/** A mode after a change such as `640`, `u+x` or `go-w,a+r`. */
function applyModeChange(mode: string, change: string): string {
  if (/^[0-7]+$/.test(change)) return change;
  const digits = mode.slice(-3).split("").map(Number);
  for (const clause of change.split(",")) {
    const [, who = "", sign, letters = ""] = /^([ugoa]*)([+=-])([rwx]+)$/.exec(clause)!;
    const bits = letters.split("").reduce((sum, it) => sum | permissionBits[it as Permission], 0);
    for (const [i, whose] of ["u", "g", "o"].entries()) {
      if (who !== "" && !who.includes("a") && !who.includes(whose)) continue;
      digits[i] = sign === "+" ? digits[i]! | bits : sign === "-" ? digits[i]! & ~bits : bits;
    }
  }
  return `${mode.slice(0, -3)}${digits.join("")}`;
}

export const permissionTools = {
  chmod: tool({
    effect: "write",
    summary:
      "Change who may read, write or enter a path that you own, in octal (640) or as letters (g+w).",
    idempotent: true,
    input: {
      path: path.file.describe("File or directory"),
      mode: z
        .string()
        .regex(/^(1?[0-7]{3}|[ugoa]*[+=-][rwx]+(,[ugoa]*[+=-][rwx]+)*)$/)
        .max(40)
        .describe("New mode: 644, 600, u+x, go-w")
        .meta({
          examples: [
            "600",
            "644",
            "640",
            "664",
            "444",
            "755",
            "700",
            "g+w",
            "o-r",
            "go-w",
            "a-w",
            "u+x",
          ],
        }),
    },
    returns: { path: path.file, mode: z.string() },
    run(state, { path: input, mode }) {
      const place = findEntry(state, input);
      requireOwner(state, place);
      const { entry, segments } = place;
      if (entry.type === "link")
        refuse(
          "precondition_failed",
          `${shorten(input)} is a symbolic link, which has no mode of its own`,
        );
      const changed = applyModeChange(entry.mode, mode);
      getDraft(state, place as ExistingPath<typeof entry>).mode = changed;
      return { path: formatPath(state, segments), mode: changed };
    },
  }),
  chown: tool({
    effect: "write",
    summary: "Give a path that you own to another user, and optionally to a group that you are in.",
    input: {
      path: path.file.describe("File or directory that you own"),
      owner: z
        .string()
        .min(1)
        .max(40)
        .describe("User name of the new owner")
        .meta({ examples: ["ben", "chloe", "david", "emma"] }),
      group: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("New group, one of yours")
        .meta({ examples: ["ana", "team"] }),
    },
    returns: { path: path.file, owner: z.string(), group: z.string() },
    run(state, { path: input, owner, group }) {
      const place = findEntry(state, input);
      const { users, user } = state;
      if (!Object.hasOwn(users, owner))
        refuse(
          "not_found",
          `there is no user ${owner}`,
          `users are ${Object.keys(users).sort().slice(0, 8).join(", ")}`,
        );
      requireOwner(state, place);
      if (group !== undefined && user !== "root" && !users[user]!.groups.includes(group))
        refuse(
          "permission_denied",
          `${user} is not in the group ${group}`,
          `your groups are ${users[user]!.groups.join(", ")}`,
        );
      const entry = getDraft(state, place);
      entry.owner = owner;
      entry.group = group ?? entry.group;
      return { path: formatPath(state, place.segments), owner, group: entry.group };
    },
  }),
};
