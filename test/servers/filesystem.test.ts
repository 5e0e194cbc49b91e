/** The tools of the filesystem server: what they return, what they change, and what they refuse. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import type { Json } from "../../src/environment/json.ts";
import { server as filesystem } from "../../src/servers/filesystem/server.ts";
import { catalog } from "../contracts/transports.ts";
import { walk } from "../contracts/walk.ts";
import { createChecks, refuses, returns, type Call } from "./check.ts";

const openSmall = () =>
  openSessionByName(catalog, { servers: [{ name: "filesystem", fixture: "small" }], seed: 1 });

const { check, checkAllTools } = createChecks(filesystem);

const cd = (path: string): Call => ["cd", { path }];
const cat = (path: string): Call => ["cat", { path }];
const write = (path: string, text = "x"): Call => ["write_file", { path, text }];

describe("the current directory", () => {
  test("is the home at first", () => check([["pwd", {}]], returns({ path: "~" })));
  test("pwd takes no arguments", () =>
    check([["pwd", { path: "~" }]], refuses("invalid_params", /path/)));
  test("moves, and relative paths with it", () =>
    check([cd("invoices"), cat("bluepeak.txt")], returns({ total: 4 })));
  test("is left upwards", () =>
    check([cd("~/invoices"), cd("../notes")], returns({ path: "~/notes" })));
  test(".. at the root stays at the root", () =>
    check([cd("../../../.."), ["pwd", {}]], returns({ path: "/" })));
  test("through a link it is where the link leads", () =>
    check([cd("team"), ["pwd", {}]], returns({ path: "/srv/team" })));
  test("is no file", () =>
    check(
      [cd("letter.txt")],
      refuses("precondition_failed", /letter.txt is not a directory but a file/),
    ));
  test("is no place that is closed to the user", () =>
    check([cd("/home/ben")], refuses("permission_denied", /may not enter \/home\/ben/)));
  test("is no place that is missing", () =>
    check([cd("nowhere")], refuses("not_found", /no file or directory nowhere/)));
});

describe("looking around", () => {
  test("ls sorts by name and kind", () =>
    check(
      [["ls", { path: "website" }]],
      returns({
        count: 3,
        files: ["~/website/brief.md", "~/website/draft.md", "~/website/tasks.csv"],
      }),
    ));
  test("ls shows the largest first", () =>
    check(
      [["ls", { path: "invoices", order: "size", limit: 1 }]],
      returns({ count: 4, files: ["~/invoices/totals.csv"] }),
    ));
  test("ls shows the newest first", () =>
    check(
      [["ls", { path: "website", order: "modified", limit: 1 }]],
      returns({ files: ["~/website/draft.md"] }),
    ));
  test("ls hides names that begin with a dot, unless asked", () =>
    check([["ls", { all: true, limit: 1 }]], returns({ count: 12, files: ["~/.profile"] })));
  test("ls of an empty directory is an empty answer", () =>
    check([["ls", { path: "spare" }]], { kind: "ok", value: { count: 0, files: [] } }));
  test("ls tells what an archive holds", () =>
    check(
      [["ls", { path: "backups/january.zip" }]],
      returns({ count: 1, contains: ["january.txt"] }),
    ));
  test("ls of a closed directory is refused", () =>
    check(
      [["ls", { path: "/srv/team/pay" }]],
      refuses("permission_denied", /david:office with mode 750/),
    ));
  test("ls of a file is refused", () =>
    check([["ls", { path: "letter.txt" }]], refuses("precondition_failed", /not a directory/)));
  test("tree indents", () =>
    check(
      [["tree", { path: "backups" }]],
      returns({ directories: 0, files: 2, lines: ["january.zip", "notes.tar"] }),
    ));
  test("tree stops at its depth", () =>
    check(
      [["tree", { path: "/srv", depth: 2 }]],
      returns({ lines: ["team/", "  pay/", "  plan.md", "  rates.txt"] }),
    ));
  test("tree has a bound", () =>
    check([["tree", { path: "~", depth: 99 }]], refuses("invalid_params", /depth/)));
  test("stat tells kind, size, mode and owner", () =>
    check(
      [["stat", { path: "letter.txt" }]],
      returns({
        path: "~/letter.txt",
        kind: "file",
        bytes: 38,
        mode: "644",
        owner: "ana",
        modified: "2026-03-03T15:25",
      }),
    ));
  test("stat shows a link itself", () =>
    check([["stat", { path: "brief" }]], returns({ kind: "link" })));
  test("stat of nothing is refused", () =>
    check([["stat", { path: "ghost.txt" }]], refuses("not_found", /ghost.txt/)));
  test("exists says yes", () =>
    check([["exists", { path: "backups/notes.tar" }]], returns({ exists: true, kind: "tar" })));
  test("exists says no, whatever of the path is missing", () =>
    check([["exists", { path: "a/b/c" }]], { kind: "ok", value: { exists: false } }));
  test("exists is not asked of closed places", () =>
    check([["exists", { path: "/home/ben/x" }]], refuses("permission_denied", /may not enter/)));
  test("find takes a name", () =>
    check([["find", { name: "tasks.csv" }]], {
      kind: "ok",
      value: { count: 1, files: [{ name: "tasks.csv", path: "~/website/tasks.csv" }] },
    }));
  test("find takes a pattern", () =>
    check([["find", { name: "*.csv", kind: "file" }]], returns({ count: 2 })));
  test("find takes ? for one character", () =>
    check([["find", { name: "?otes.tar" }]], returns({ tars: ["~/backups/notes.tar"] })));
  test("find that finds nothing is an empty answer", () =>
    check([["find", { name: "nothing" }]], { kind: "ok", value: { count: 0, files: [] } }));
  test("find passes over what the user may not see", () =>
    check([["find", { directory: "/", name: "*.csv" }]], returns({ count: 2 })));
  test("find starts in a directory", () =>
    check(
      [["find", { directory: "letter.txt" }]],
      refuses("precondition_failed", /not a directory/),
    ));
  test("readlink shows the target of a file", () =>
    check([["readlink", { path: "brief" }]], {
      kind: "ok",
      value: { target: "~/website/brief.md" },
    }));
  test("readlink shows the target of a directory", () =>
    check([["readlink", { path: "team" }]], { kind: "ok", value: { directory: "/srv/team" } }));
  test("readlink of a file is refused", () =>
    check(
      [["readlink", { path: "letter.txt" }]],
      refuses("precondition_failed", /not a symbolic link but a file/),
    ));
  test("du adds up: 68 + 61 + 66 bytes", () =>
    check([["du", { path: "website", top: 1 }]], {
      kind: "ok",
      value: { bytes: 195, files: 3, largest: [{ path: "~/website/brief.md", bytes: 68 }] },
    }));
  test("du of a closed directory is refused", () =>
    check([["du", { path: "/home/ben" }]], refuses("permission_denied", /may not read/)));
  test("df adds up: 12000 - used", () =>
    check([["df", {}]], { kind: "ok", value: { size: 12000, used: 2640, free: 9360, trash: 40 } }));
  test("df takes no arguments", () =>
    check([["df", { path: "/" }]], refuses("invalid_params", /path/)));
});

describe("making", () => {
  test("mkdir makes a directory", () =>
    check(
      [
        ["mkdir", { path: "old" }],
        ["stat", { path: "old" }],
      ],
      returns({ kind: "directory", mode: "755", owner: "ana", modified: "2026-03-09T09:00" }),
    ));
  test("mkdir needs the one above", () =>
    check([["mkdir", { path: "a/b" }]], refuses("not_found", /no directory ~\/a/)));
  test("mkdir with parents makes those too", () =>
    check(
      [
        ["mkdir", { path: "a/b/c", parents: true }],
        ["tree", { path: "a", depth: 3 }],
      ],
      returns({ lines: ["b/", "  c/"] }),
    ));
  test("mkdir with parents is content with what is there", () =>
    check([["mkdir", { path: "notes", parents: true }]], returns({ path: "~/notes" })));
  test("mkdir of a name that is taken is refused", () =>
    check([["mkdir", { path: "notes" }]], refuses("conflict", /~\/notes already exists/)));
  test("mkdir in a directory of others is refused", () =>
    check(
      [["mkdir", { path: "/etc/x" }]],
      refuses("permission_denied", /root:root with mode 755/),
    ));
  test("touch makes an empty file", () =>
    check(
      [
        ["touch", { path: "new.txt" }],
        ["wc", { path: "new.txt" }],
      ],
      returns({ lines: 0, words: 0, bytes: 0 }),
    ));
  test("touch of a file sets its time", () =>
    check(
      [
        ["touch", { path: "letter.txt" }],
        ["stat", { path: "letter.txt" }],
      ],
      returns({ bytes: 38, modified: "2026-03-09T09:00" }),
    ));
  test("touch of a file of others is refused", () =>
    check(
      [["touch", { path: "/etc/motd" }]],
      refuses("permission_denied", /may not change \/etc\/motd/),
    ));
  test("ln makes a link that is followed", () =>
    check(
      [["ln", { target: "notes/todo.md", path: "today" }], cat("today")],
      returns({ total: 3 }),
    ));
  test("ln keeps where it leads when the directory changes", () =>
    check(
      [["ln", { target: "notes/todo.md", path: "spare/t" }], cd("spare"), cat("t")],
      returns({ total: 3 }),
    ));
  test("ln may lead nowhere, and then is a missing file", () =>
    check([["ln", { target: "ghost", path: "g" }], cat("g")], refuses("not_found", /g/)));
  test("ln onto a name that is taken is refused", () =>
    check(
      [["ln", { target: "notes", path: "team" }]],
      refuses("conflict", /~\/team already exists/),
    ));
  test("links in a circle are refused", () =>
    check(
      [["ln", { target: "b", path: "a" }], ["ln", { target: "a", path: "b" }], cat("a")],
      refuses("precondition_failed", /ELOOP/),
    ));
});

describe("moving and copying", () => {
  const mv = (source: string, destination: string, more = {}): Call => [
    "mv",
    { source, destination, ...more },
  ];
  const cp = (source: string, destination: string, more = {}): Call => [
    "cp",
    { source, destination, ...more },
  ];
  test("mv into a directory keeps the name", () =>
    check([mv("letter.txt", "notes"), cat("notes/letter.txt")], returns({ total: 3 })));
  test("mv may give another name", () =>
    check(
      [mv("letter.txt", "notes", { name: "emma.txt" }), ["exists", { path: "letter.txt" }]],
      returns({ exists: false }),
    ));
  test("mv of a directory takes all along", () =>
    check(
      [mv("website", "spare"), ["wc", { path: "spare/website/brief.md" }]],
      returns({ lines: 3 }),
    ));
  test("mv onto a file is refused", () =>
    check(
      [mv("letter.txt", "notes", { name: "todo.md" })],
      refuses("conflict", /~\/notes\/todo.md already exists/),
    ));
  test("mv may overwrite when told", () =>
    check(
      [
        mv("letter.txt", "notes", { name: "todo.md", overwrite: true }),
        ["head", { path: "notes/todo.md", lines: 1 }],
      ],
      returns({ lines: ["Dear Emma,"] }),
    ));
  test("mv of a directory into itself is refused", () =>
    check(
      [mv("website", "website")],
      refuses("precondition_failed", /~\/website\/website is below ~\/website itself/),
    ));
  test("mv of the current directory is refused", () =>
    check(
      [cd("website"), mv("~/website", "~/spare")],
      refuses("precondition_failed", /holds the current directory/),
    ));
  test("mv of what others own in a sticky directory is refused", () =>
    check(
      [mv("/srv/team/plan.md", "notes")],
      refuses("permission_denied", /only ben may remove or move/),
    ));
  test("mv into a file is refused", () =>
    check([mv("letter.txt", "notes/todo.md")], refuses("precondition_failed", /not a directory/)));
  test("mv to where it is is refused", () =>
    check([mv("letter.txt", "~")], refuses("conflict", /letter.txt is there already/)));
  test("mv takes a name, not a path", () =>
    check([mv("letter.txt", "notes", { name: "../x" })], refuses("invalid_params", /not a name/)));
  test("mv of nothing is refused", () =>
    check([mv("ghost", "notes")], refuses("not_found", /ghost/)));
  test("mv to a missing directory is refused", () =>
    check([mv("letter.txt", "ghost")], refuses("not_found", /ghost/)));
  test("cp makes a copy that is the user's own", () =>
    check(
      [cp("/srv/team/plan.md", "notes"), ["stat", { path: "notes/plan.md" }]],
      returns({ owner: "ana", group: "ana", bytes: 56 }),
    ));
  test("cp of a directory needs recursive", () =>
    check([cp("website", "spare")], refuses("precondition_failed", /is a directory/)));
  test("cp with recursive copies all of it", () =>
    check(
      [cp("website", "spare", { recursive: true }), ["du", { path: "spare" }]],
      returns({ bytes: 195, files: 3 }),
    ));
  test("cp of what may not be read is refused", () =>
    check([cp("/etc/keys", "~")], refuses("permission_denied", /may not read \/etc\/keys/)));
  test("cp onto a file is refused", () =>
    check([cp("letter.txt", "notes", { name: "todo.md" })], refuses("conflict", /already exists/)));
  test("cp beyond the quota is refused", () => {
    const doubled: Call[] = ["1", "2", "3"].map(it =>
      cp("backups", "spare", { name: it, recursive: true }),
    );
    const most = [
      write("big", "x".repeat(6000)),
      ...doubled.slice(0, 2),
      cp("big", "~", { name: "bigger" }),
    ];
    check(most, refuses("limit_exceeded", /no space: 6000 bytes needed/));
  });
  test("rename keeps the directory", () =>
    check(
      [["rename", { path: "notes/todo.md", name: "done.md" }]],
      returns({ path: "~/notes/done.md" }),
    ));
  test("rename to a taken name is refused", () =>
    check(
      [["rename", { path: "notes/todo.md", name: "ideas.md" }]],
      refuses("conflict", /ideas.md already exists/),
    ));
  test("rename takes a name, not a path", () =>
    check(
      [["rename", { path: "notes/todo.md", name: "../x" }]],
      refuses("invalid_params", /not a name/),
    ));
  test("rmdir removes an empty directory", () =>
    check(
      [
        ["rmdir", { path: "spare" }],
        ["exists", { path: "spare" }],
      ],
      returns({ exists: false }),
    ));
  test("rmdir of a full one is refused", () =>
    check(
      [["rmdir", { path: "notes" }]],
      refuses("precondition_failed", /not empty: it holds 3 entries/),
    ));
  test("rmdir of the current one is refused", () =>
    check(
      [cd("spare"), ["rmdir", { path: "." }]],
      refuses("precondition_failed", /current directory/),
    ));
  test("rmdir of a file is refused", () =>
    check(
      [["rmdir", { path: "letter.txt" }]],
      refuses("precondition_failed", /not a directory but a file/),
    ));
});

describe("the trash", () => {
  const rm = (path: string, more = {}): Call => ["rm", { path, ...more }];
  test("rm fills it", () =>
    check(
      [rm("letter.txt"), ["list_trash", { name: "letter" }]],
      returns({
        count: 1,
        items: [{ name: "letter.txt", from: "~/letter.txt", removed: "2026-03-09T09:00" }],
      }),
    ));
  test("the last removed comes first", () =>
    check(
      [["list_trash", { limit: 1 }]],
      returns({ count: 2, items: [{ name: "posters.csv", trash_id: "trash_102" }] }),
    ));
  test("a list has a bound", () =>
    check([["list_trash", { limit: 0 }]], refuses("invalid_params", /limit/)));
  test("rm of a directory needs recursive", () =>
    check([rm("website")], refuses("precondition_failed", /is a directory/)));
  test("rm with recursive takes all of it", () =>
    check(
      [rm("website", { recursive: true }), ["exists", { path: "website/brief.md" }]],
      returns({ exists: false }),
    ));
  test("rm of a link leaves what it leads to", () =>
    check([rm("plan"), cat("/srv/team/plan.md")], returns({ total: 3 })));
  test("what is removed still weighs", () =>
    check([rm("letter.txt"), ["df", {}]], returns({ used: 2640, trash: 78 })));
  test("what is removed for good does not: 2640 - 38", () =>
    check([rm("letter.txt", { permanent: true }), ["df", {}]], returns({ used: 2602, trash: 40 })));
  test("rm of what others own is refused", () =>
    check([rm("/etc/motd")], refuses("permission_denied", /may not change \/etc/)));
  test("rm of the root is refused", () =>
    check([rm("/", { recursive: true })], refuses("permission_denied", /root directory/)));
  test("an item goes back to where it was", () =>
    check(
      [["restore_trash", { trash_id: "trash_101" }], cat("website/old-logo.txt")],
      returns({ text: "Blue logo, 2025" }),
    ));
  test("or to another directory", () =>
    check(
      [["restore_trash", { trash_id: "trash_101", directory: "notes" }]],
      returns({ path: "~/notes/old-logo.txt" }),
    ));
  test("and is then no longer in the trash", () =>
    check(
      [
        ["restore_trash", { trash_id: "trash_101" }],
        ["list_trash", {}],
      ],
      returns({ count: 1 }),
    ));
  test("not over another file", () =>
    check(
      [write("website/old-logo.txt"), ["restore_trash", { trash_id: "trash_101" }]],
      refuses("conflict", /old-logo.txt already exists/),
    ));
  test("not to a directory that is gone", () =>
    check(
      [rm("website", { recursive: true }), ["restore_trash", { trash_id: "trash_101" }]],
      refuses("not_found", /no directory ~\/website/),
    ));
  test("unknown items are refused", () =>
    check([["restore_trash", { trash_id: "__proto__" }]], refuses("not_found", /__proto__/)));
});

describe("reading", () => {
  test("cat gives the text", () =>
    check([cat("letter.txt")], {
      kind: "ok",
      value: { text: "Dear Emma,\nthe posters are ready.\nAna", total: 3 },
    }));
  test("cat stops at its limit", () =>
    check([["cat", { path: "letter.txt", limit: 1 }]], {
      kind: "ok",
      value: { text: "Dear Emma,", total: 3 },
    }));
  test("cat follows a link out of the home", () =>
    check([cat("plan")], returns({ text: expect.stringMatching(/^March plan/) as string })));
  test("cat of a directory is refused", () =>
    check([cat("notes")], refuses("precondition_failed", /is a directory/)));
  test("cat of an archive is refused", () =>
    check(
      [cat("backups/january.zip")],
      refuses("precondition_failed", /a zip archive, not a text file/),
    ));
  test("cat of a closed file is refused", () =>
    check([cat("/etc/keys")], refuses("permission_denied", /may not read/)));
  test("head gives the first lines", () =>
    check(
      [["head", { path: "notes/todo.md", lines: 2 }]],
      returns({ lines: ["Call Ben on Friday", "Send the Bluepeak invoice"], total: 3 }),
    ));
  test("head of nothing is refused", () =>
    check([["head", { path: "ghost" }]], refuses("not_found", /ghost/)));
  test("tail gives the last lines", () =>
    check([["tail", { path: "notes/todo.md", lines: 1 }]], returns({ lines: ["Order paper"] })));
  test("tail has a bound", () =>
    check([["tail", { path: "notes/todo.md", lines: 0 }]], refuses("invalid_params", /lines/)));
  test("wc counts", () =>
    check([["wc", { path: "website/brief.md" }]], returns({ lines: 3, words: 12, bytes: 68 })));
  test("wc of a directory is refused", () =>
    check([["wc", { path: "." }]], refuses("precondition_failed", /directory/)));
  test("grep finds lines in a file", () =>
    check(
      [["grep", { pattern: "ERROR", path: "logs/app.log" }]],
      returns({
        count: 2,
        matches: [{ path: "~/logs/app.log", line: 2, text: "08:04 ERROR timeout" }, { line: 4 }],
      }),
    ));
  test("grep finds lines below a directory", () =>
    check([["grep", { pattern: "logo", path: "~" }]], returns({ count: 3 })));
  test("grep takes the pattern literally", () =>
    check([["grep", { pattern: ".*", path: "~" }]], returns({ count: 0 })));
  test("grep may ignore case", () =>
    check(
      [["grep", { pattern: "error", path: "logs/app.log", ignore_case: true }]],
      returns({ count: 2 }),
    ));
  test("grep of a closed file is refused", () =>
    check(
      [["grep", { pattern: "x", path: "/etc/keys" }]],
      refuses("permission_denied", /may not read/),
    ));
  test("grep passes over closed files", () =>
    check([["grep", { pattern: "business", path: "/etc" }]], returns({ count: 0 })));
  test("sort orders by a column", () =>
    check(
      [
        [
          "sort",
          {
            path: "website/tasks.csv",
            field: 3,
            numeric: true,
            reverse: true,
            header: true,
            limit: 2,
          },
        ],
      ],
      { kind: "ok", value: { lines: ["task,who,hours", "shop,Ben,20"], total: 5 } },
    ));
  test("sort orders whole lines", () =>
    check(
      [["sort", { path: "logs/sync.log" }]],
      returns({ lines: ["failed", "failed", "ok", "ok", "ok"] }),
    ));
  test("sort by numbers needs numbers", () =>
    check(
      [["sort", { path: "website/tasks.csv", field: 1, numeric: true }]],
      refuses("precondition_failed", /no numbers/),
    ));
  test("sort of an archive is refused", () =>
    check(
      [["sort", { path: "backups/notes.tar" }]],
      refuses("precondition_failed", /a tar archive/),
    ));
  test("uniq drops repeats and counts them", () =>
    check(
      [["uniq", { path: "logs/sync.log", count: true }]],
      returns({ lines: ["2 ok", "2 failed", "1 ok"], total: 3 }),
    ));
  test("uniq of nothing is refused", () =>
    check([["uniq", { path: "ghost" }]], refuses("not_found", /ghost/)));
  test("cut shows one column", () =>
    check(
      [["cut", { path: "invoices/totals.csv", field: 2 }]],
      returns({ lines: ["amount", "1000", "450", "420"] }),
    ));
  test("cut takes other separators", () =>
    check(
      [["cut", { path: "logs/app.log", field: 2, separator: "space", limit: 2 }]],
      returns({ lines: ["INFO", "ERROR"] }),
    ));
  test("cut leaves out lines that do not have the column", () =>
    check([["cut", { path: "invoices/orchard.txt", field: 4, separator: "space" }]], {
      kind: "ok",
      value: { lines: ["Orchard"], total: 1 },
    }));
  test("cut of a file without columns is refused", () =>
    check(
      [["cut", { path: "letter.txt", field: 1, separator: "semicolon" }]],
      refuses("precondition_failed", /no columns with a semicolon between/),
    ));
  test("sort by a column that is not there is refused", () =>
    check(
      [["sort", { path: "invoices/totals.csv", field: 4 }]],
      refuses("precondition_failed", /has 3 columns, and no column 4/),
    ));
  test("cut counts from 1", () =>
    check(
      [["cut", { path: "invoices/totals.csv", field: 0 }]],
      refuses("invalid_params", /field/),
    ));
  test("diff marks what differs", () =>
    check(
      [["diff", { first: "website/brief.md", second: "website/draft.md" }]],
      returns({
        same: false,
        removed: 2,
        added: 2,
        changes: [
          "-Two pages and a shop",
          "-Deadline Friday 20 March",
          "+Three pages and a shop",
          "+This is a draft",
        ],
      }),
    ));
  test("diff of a file with its copy is empty", () =>
    check(
      [
        ["cp", { source: "letter.txt", destination: "~", name: "l2" }],
        ["diff", { first: "letter.txt", second: "l2" }],
      ],
      returns({ same: true, changes: [] }),
    ));
  test("diff with a directory is refused", () =>
    check(
      [["diff", { first: "letter.txt", second: "notes" }]],
      refuses("precondition_failed", /notes is a directory/),
    ));
  test("diff of very long files is refused", () =>
    check(
      [
        ["replace_in_file", { path: "logs/sync.log", find: "ok", replace: "\n".repeat(900) }],
        ["diff", { first: "logs/sync.log", second: "letter.txt" }],
      ],
      refuses("limit_exceeded", /2000 lines/),
    ));
  test("checksum is the content's SHA-256", () =>
    check([write("abc", "abc"), ["checksum", { path: "abc" }]], {
      kind: "ok",
      value: {
        short: "ba7816bf",
        algorithm: "sha256",
        checksum: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      },
    }));
  test("checksum of a directory is refused", () =>
    check([["checksum", { path: "notes" }]], refuses("precondition_failed", /no content/)));
});

describe("writing", () => {
  test("write_file makes a file", () =>
    check([write("a.txt", "one\ntwo"), cat("a.txt")], returns({ text: "one\ntwo", total: 2 })));
  test("write_file leaves a file that is there", () =>
    check([write("letter.txt")], refuses("conflict", /~\/letter.txt already exists/)));
  test("write_file overwrites when told", () =>
    check(
      [["write_file", { path: "letter.txt", text: "é", overwrite: true }]],
      returns({ bytes: 2 }),
    ));
  test("write_file beyond the quota is refused: 12000 - 2640 = 9360", () =>
    check(
      [write("a", "x".repeat(9361))],
      refuses("limit_exceeded", /9361 bytes needed, 9360 of 12000 free/),
    ));
  test("write_file fills the quota to the last byte", () =>
    check([write("a", "x".repeat(9360)), ["df", {}]], returns({ free: 0 })));
  test("append_file adds a line", () =>
    check(
      [
        ["append_file", { path: "notes/todo.md", text: "Rest" }],
        ["tail", { path: "notes/todo.md", lines: 1 }],
      ],
      returns({ lines: ["Rest"], total: 4 }),
    ));
  test("append_file ends an open line first", () =>
    check(
      [write("a", "one"), ["append_file", { path: "a", text: "two" }], cat("a")],
      returns({ text: "one\ntwo" }),
    ));
  test("append_file works where the group may write", () =>
    check(
      [["append_file", { path: "/srv/team/plan.md", text: "Ana: rest" }]],
      returns({ lines: 4 }),
    ));
  test("append_file where the group may only read is refused", () =>
    check(
      [["append_file", { path: "/srv/team/rates.txt", text: "x" }]],
      refuses("permission_denied", /david:team with mode 640/),
    ));
  test("append_file to nothing is refused", () =>
    check([["append_file", { path: "ghost", text: "x" }]], refuses("not_found", /ghost/)));
  test("replace_in_file replaces everywhere", () =>
    check(
      [["replace_in_file", { path: "website/brief.md", find: "a", replace: "A" }]],
      returns({ replaced: 6 }),
    ));
  test("replace_in_file replaces once", () =>
    check(
      [
        ["replace_in_file", { path: "logs/sync.log", find: "ok", replace: "fine", first: true }],
        ["head", { path: "logs/sync.log", lines: 2 }],
      ],
      returns({ lines: ["fine", "ok"] }),
    ));
  test("replace_in_file of a missing text is refused", () =>
    check(
      [["replace_in_file", { path: "letter.txt", find: "Ben", replace: "Emma" }]],
      refuses("not_found", /does not contain Ben/),
    ));
  test("replace_in_file knows the size before it writes", () =>
    check(
      [["replace_in_file", { path: "logs/app.log", find: "0", replace: "x".repeat(20_000) }]],
      refuses("limit_exceeded", /no space/),
    ));
  test("truncate keeps the first lines", () =>
    check(
      [["truncate", { path: "letter.txt", lines: 1 }], cat("letter.txt")],
      returns({ text: "Dear Emma,", total: 1 }),
    ));
  test("truncate empties", () =>
    check([["truncate", { path: "letter.txt", lines: 0 }]], returns({ bytes: 0 })));
  test("truncate to more lines than there are is refused", () =>
    check(
      [["truncate", { path: "letter.txt", lines: 4 }]],
      refuses("precondition_failed", /fewer lines than 4: 3/),
    ));
});

describe("owners and modes", () => {
  const chmod = (path: string, mode: string): Call => ["chmod", { path, mode }];
  test("chmod takes digits", () =>
    check([chmod("letter.txt", "600")], returns({ path: "~/letter.txt", mode: "600" })));
  test("chmod takes letters: 644 go-r u+x", () =>
    check([chmod("letter.txt", "go-r,u+x")], returns({ mode: "700" })));
  test("chmod holds for the owner too", () =>
    check(
      [chmod("letter.txt", "a-w"), ["append_file", { path: "letter.txt", text: "x" }]],
      refuses("permission_denied", /may not change ~\/letter.txt: .* mode 444/),
    ));
  test("chmod closes a directory", () =>
    check(
      [chmod("notes", "600"), cat("notes/todo.md")],
      refuses("permission_denied", /may not enter ~\/notes/),
    ));
  test("chmod is the owner's", () =>
    check(
      [chmod("/srv/team/plan.md", "600")],
      refuses("permission_denied", /only the owner, ben/),
    ));
  test("chmod knows no other modes", () =>
    check([chmod("letter.txt", "999")], refuses("invalid_params", /mode/)));
  test("chown gives a file away", () =>
    check(
      [
        ["chown", { path: "letter.txt", owner: "emma" }],
        ["stat", { path: "letter.txt" }],
      ],
      returns({ owner: "emma", group: "ana" }),
    ));
  test("and then it is no longer the user's", () =>
    check(
      [["chown", { path: "letter.txt", owner: "emma" }], chmod("letter.txt", "600")],
      refuses("permission_denied", /only the owner, emma/),
    ));
  test("chown to a group of one's own", () =>
    check(
      [["chown", { path: "letter.txt", owner: "ana", group: "team" }]],
      returns({ group: "team" }),
    ));
  test("chown to another group is refused", () =>
    check(
      [["chown", { path: "letter.txt", owner: "ana", group: "office" }]],
      refuses("permission_denied", /not in the group office/),
    ));
  test("chown to nobody is refused", () =>
    check(
      [["chown", { path: "letter.txt", owner: "constructor" }]],
      refuses("not_found", /no user constructor/),
    ));
});

describe("archives", () => {
  const zip = (source: string, archive: string): Call => ["zip", { source, archive }];
  test("zip packs a directory beside it", () =>
    check([["zip", { source: "website" }]], {
      kind: "ok",
      value: { archive: "~/website.zip", files: 3 },
    }));
  test("zip packs into a named archive", () =>
    check(
      [zip("letter.txt", "notes/l.zip"), ["ls", { path: "notes/l.zip" }]],
      returns({ contains: ["letter.txt"] }),
    ));
  test("zip onto an archive that is there is refused", () =>
    check(
      [zip("notes", "backups/january.zip")],
      refuses("conflict", /january.zip already exists/),
    ));
  test("zip names end in .zip", () =>
    check([zip("notes", "notes.rar")], refuses("invalid_params", /must end in .zip/)));
  test("zip of what may not be read is refused", () =>
    check(
      [zip("/srv/team", "team.zip")],
      refuses("permission_denied", /may not read \/srv\/team\/pay/),
    ));
  test("unzip brings it all back", () =>
    check(
      [
        zip("website", "w.zip"),
        ["rm", { path: "website", recursive: true }],
        ["unzip", { archive: "w.zip", destination: "~" }],
        ["wc", { path: "website/tasks.csv" }],
      ],
      returns({ lines: 5 }),
    ));
  test("unzip tells what it took out", () =>
    check([["unzip", { archive: "backups/january.zip", destination: "spare" }]], {
      kind: "ok",
      value: { path: "~/spare", count: 1, files: ["~/spare/january.txt"] },
    }));
  test("unzip over files is refused", () =>
    check(
      [zip("website", "w.zip"), ["unzip", { archive: "w.zip", destination: "~" }]],
      refuses("conflict", /~\/website\/brief.md already exists/),
    ));
  test("unzip overwrites when told", () =>
    check(
      [
        zip("website", "w.zip"),
        ["truncate", { path: "website/brief.md", lines: 0 }],
        ["unzip", { archive: "w.zip", destination: "~", overwrite: true }],
        ["wc", { path: "website/brief.md" }],
      ],
      returns({ lines: 3 }),
    ));
  test("unzip of a tar is refused", () =>
    check(
      [["unzip", { archive: "backups/notes.tar", destination: "spare" }]],
      refuses("precondition_failed", /is a tar archive/),
    ));
  test("unzip of a file is refused", () =>
    check(
      [["unzip", { archive: "letter.txt", destination: "spare" }]],
      refuses("precondition_failed", /not an archive but a file/),
    ));
  test("tar_create packs: 512 bytes for each of 3 headers and 2 blocks", () =>
    check(
      [
        ["tar_create", { source: "spare" }],
        ["tar_create", { source: "website", archive: "w.tar" }],
        ["stat", { path: "w.tar" }],
      ],
      returns({ kind: "tar", bytes: 3072 }),
    ));
  test("tar_create of an archive is refused", () =>
    check(
      [["tar_create", { source: "backups/notes.tar" }]],
      refuses("precondition_failed", /archive already/),
    ));
  test("tar_extract takes out", () =>
    check(
      [
        ["tar_extract", { archive: "backups/notes.tar", destination: "spare" }],
        cat("spare/february.md"),
      ],
      returns({ text: "Call Emma\nPrint posters" }),
    ));
  test("tar_extract into a directory of others is refused", () =>
    check(
      [["tar_extract", { archive: "backups/notes.tar", destination: "/etc" }]],
      refuses("permission_denied", /may not change \/etc/),
    ));
});

describe("hostile input", () => {
  test("a name of a megabyte is refused", () =>
    check(
      [["mkdir", { path: "x".repeat(1_000_000) }]],
      refuses("limit_exceeded", /path has 1000000 characters/),
    ));
  test("a name of 256 characters is refused", () =>
    check(
      [["mkdir", { path: "x".repeat(256) }]],
      refuses("invalid_params", /at most 255 characters/),
    ));
  test("a name of 255 characters is fine", () =>
    check([["mkdir", { path: "x".repeat(255) }]], returns({})));
  for (const path of ["a\u0000b", "a\nb", "\u0007"])
    test(`the control characters of ${JSON.stringify(path)} are refused`, () =>
      check([["touch", { path }]], refuses("invalid_params", /control characters/)));
  test("__proto__ is no name", () =>
    check(
      [["mkdir", { path: "__proto__" }]],
      refuses("invalid_params", /__proto__ is not a name/),
    ));
  test("__proto__ is no file", () => check([cat("__proto__")], refuses("not_found", /__proto__/)));
  test("constructor is a name like any other", () =>
    check([write("constructor", "a"), ["stat", { path: "constructor" }]], returns({ bytes: 1 })));
  test("é has one spelling, and the other is refused", () =>
    check(
      [write("caf\u00e9.txt", "a"), cat("cafe\u0301.txt")],
      refuses("invalid_params", /path is not in Unicode's composed form/),
    ));
  test("directories go 40 levels deep and no further", () =>
    check(
      [["mkdir", { path: "x/".repeat(50), parents: true }]],
      refuses("limit_exceeded", /40 levels/),
    ));
  test("a path that grows through a move is bounded", () => {
    const long = (letter: string) => letter.repeat(255);
    const calls: Call[] = [
      ["mkdir", { path: [long("a"), long("b")].join("/"), parents: true }],
      ["mkdir", { path: [long("c"), long("d")].join("/"), parents: true }],
    ];
    check(
      [...calls, ["mv", { source: long("a"), destination: `${long("c")}/${long("d")}` }]],
      refuses("limit_exceeded", /1024 characters/),
    );
  });
  test("a pattern of stars takes no time", () =>
    check(
      [write("a".repeat(200)), ["find", { name: "*a".repeat(100) + "b" }]],
      returns({ count: 0 }),
    ));
});

const texts = fc.oneof(
  fc.constantFrom(
    "..",
    "/",
    "~",
    "~/notes",
    "notes/todo.md",
    "team",
    "spare",
    "../../..",
    "a/b",
    "__proto__",
    "x.zip",
    "backups/january.zip",
    "backups/notes.tar",
    "loop",
  ),
  fc.string({ maxLength: 12 }),
);

/** A call of any tool, with plausible values under its own keys. */
const anyCall = fc.constantFrom(...filesystem.tools.values()).chain(tool => {
  const keys = Object.keys(tool.inputSchema["properties"] as object);
  return fc.record({
    name: fc.constant(tool.name),
    args: fc.dictionary(
      fc.constantFrom(...keys, "extra"),
      fc.oneof(
        { weight: 6, arbitrary: texts },
        { weight: 1, arbitrary: fc.oneof(fc.boolean(), fc.integer(), fc.constant(null)) },
      ),
    ),
  });
});

describe("whatever is called", () => {
  test("nothing breaks, and what is refused or read leaves the state", () => {
    fc.assert(
      fc.property(fc.array(anyCall, { minLength: 10, maxLength: 40 }), calls => {
        const session = openSmall();
        for (const { name, args } of calls) {
          const { digest } = session;
          const { outcome } = session.call(name, args);
          expect(outcome.kind, JSON.stringify({ name, args, outcome })).not.toBe("broken");
          if (outcome.kind !== "ok" || filesystem.tools.get(name)!.effect === "read")
            expect(session.digest).toBe(digest);
        }
        expect(
          filesystem.schema.safeParse(session.state["filesystem"]!.world).error,
        ).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });

  test("the disk never holds more than its quota, and the state fits its schema", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), seed => {
        const session = openSmall();
        walk(filesystem, session, 150, seed);
        expect(
          filesystem.schema.safeParse(session.state["filesystem"]!.world).error,
        ).toBeUndefined();
        const { outcome } = session.call("filesystem_df", {});
        expect(outcome).toMatchObject({ kind: "ok" });
        const { size, used } = (outcome as unknown as { value: { size: number; used: number } })
          .value;
        expect(used).toBeLessThanOrEqual(size);
      }),
      { numRuns: 25 },
    );
  });
});

describe("loopholes", () => {
  const owned = (owner: string, mode: string, entries: Record<string, Json>): Json => ({
    type: "directory",
    owner,
    group: "team",
    mode,
    modified: "2026-03-01T10:00",
    entries,
  });
  const file = (owner: string, mode: string, text = "x\n"): Json => ({
    type: "file",
    owner,
    group: "team",
    mode,
    modified: "2026-03-01T10:00",
    text,
  });
  const spare = "root.entries.home.entries.ana.entries.spare";
  const team = "root.entries.srv.entries.team";
  const overwrite = { name: "plan.md", overwrite: true };

  test("a copy does not take over a colleague's file in a sticky directory", () =>
    check(
      [["cp", { source: "letter.txt", destination: "/srv/team", ...overwrite }]],
      refuses("permission_denied", /only ben may remove or move \/srv\/team\/plan.md/),
    ));
  test("a move does not replace a colleague's file in a sticky directory", () =>
    check(
      [["mv", { source: "letter.txt", destination: "/srv/team", ...overwrite }]],
      refuses("permission_denied", /only ben may/),
    ));
  for (const kind of ["zip", "tar"] as const) {
    const [pack, unpack] = kind === "zip" ? ["zip", "unzip"] : ["tar_create", "tar_extract"];
    const packed: Call[] = [
      ["cp", { source: "letter.txt", destination: "spare", name: "plan.md" }],
      [pack, { source: "spare/plan.md", archive: `p.${kind}` }],
    ];
    const extract = (destination: string): Call => [
      unpack,
      { archive: `p.${kind}`, destination, overwrite: true },
    ];
    test(`a ${kind} does not take over a colleague's file in a sticky directory`, () =>
      check([...packed, extract("/srv/team")], refuses("permission_denied", /only ben may/)));
    test(`a ${kind} does not replace a file in a directory that may not be changed`, () =>
      check(
        [...packed, extract("/srv/team")],
        refuses("permission_denied", /may not change \/srv\/team/),
        { edits: { [`${team}.mode`]: "755" } },
      ));
  }
  test("removing a directory removes nothing from a colleague's directory in it", () => {
    const edits = {
      [`${spare}.entries.ben`]: owned("ben", "755", { "a.txt": file("ben", "644") }),
    };
    for (const permanent of [false, true])
      check(
        [["rm", { path: "spare", recursive: true, permanent }]],
        refuses("permission_denied", /may not change ~\/spare\/ben/),
        { edits },
      );
  });
  test("removing a directory removes nothing of colleagues from a sticky directory in it", () =>
    check(
      [["rm", { path: "spare", recursive: true }]],
      refuses("permission_denied", /only ben may/),
      {
        edits: {
          [`${spare}.entries.box`]: owned("david", "1777", { "a.txt": file("ben", "644") }),
        },
      },
    ));
  test("the refusal to remove a directory names nothing that the user may not list", () =>
    check(
      [["rm", { path: "spare", recursive: true }]],
      refuses("permission_denied", /^ana may not read ~\/spare\/ben: /),
      {
        edits: {
          [`${spare}.entries.ben`]: owned("ben", "733", {
            secret: owned("ben", "755", { "a.txt": file("ben", "644") }),
          }),
        },
      },
    ));
  test("a directory that may not be changed is not moved to another one", () =>
    check(
      [["mv", { source: "spare/ben", destination: "~" }]],
      refuses("permission_denied", /may not change ~\/spare\/ben/),
      { edits: { [`${spare}.entries.ben`]: owned("ben", "755", {}) } },
    ));
  test("overwriting a file is no way around the limit of 40 levels", () => {
    const names = Array.from({ length: 34 }, (_, i) => `d${i}`);
    const deep = `~/${names.join("/")}`;
    check(
      [
        ["mkdir", { path: "a/b/c/d/e/f", parents: true }],
        ["zip", { source: "a", archive: "a.zip" }],
        ["mkdir", { path: deep, parents: true }],
        write(`${deep}/x.zip`),
        ["mv", { source: "a.zip", destination: deep, name: "x.zip", overwrite: true }],
      ],
      refuses("limit_exceeded", /at most 40 levels/),
    );
  });
  test("packing an archive again does not make it smaller", () => {
    const text = "a line of text\n".repeat(100);
    const source = "root.entries.home.entries.ana.entries.long";
    check(
      [
        ["zip", { source: "long", archive: "1.zip" }],
        ["mkdir", { path: "one" }],
        ["mv", { source: "1.zip", destination: "one" }],
        ["zip", { source: "one", archive: "2.zip" }],
        ["stat", { path: "2.zip" }],
      ],
      // 22 + 60 and half of the text, then 22 and twice 60 around that
      returns({ bytes: 22 + 120 + 22 + 120 + text.length / 2 }),
      { edits: { [source]: owned("ana", "755", { "a.txt": file("ana", "644", text) }) } },
    );
  });
  test("nor does packing it in a tar in between", () => {
    const text = "a line of text\n".repeat(400);
    const source = "root.entries.home.entries.ana.entries.long";
    check(
      [
        ["zip", { source: "long/a.txt", archive: "long/1.zip" }],
        ["rm", { path: "long/a.txt", permanent: true }],
        ["tar_create", { source: "long", archive: "2.tar" }],
        ["rm", { path: "long/1.zip", permanent: true }],
        ["mv", { source: "2.tar", destination: "long" }],
        ["zip", { source: "long", archive: "3.zip" }],
        ["rm", { path: "long", recursive: true, permanent: true }],
        ["stat", { path: "3.zip" }],
      ],
      returns({ bytes: expect.toSatisfy((it: number) => it > text.length / 2) as number }),
      {
        edits: {
          "quota.bytes": 100_000,
          [source]: owned("ana", "755", { "a.txt": file("ana", "644", text) }),
        },
      },
    );
  });
});

checkAllTools();
