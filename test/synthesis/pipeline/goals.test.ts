/** Goals are the successful calls of a transcript; their edges are values and preconditions. */
import { expect, test } from "vitest";
import type { Json } from "../../../src/environment/json.ts";
import { extractGoals } from "../../../src/synthesis/pipeline/task/goals.ts";
import { containsToken } from "../../../src/trajectory/valueMatching.ts";
import { getDependencyGraph } from "../../../src/synthesis/graph/dependencyGraph.ts";
import type { Event } from "../../../src/trajectory/trajectory.ts";
import { library } from "../libraryServer.ts";

const user = (text: string): Event => ({ kind: "user", text });
const call = (
  message: number,
  name: string,
  args: Record<string, Json>,
  value: Json | undefined,
): Event => ({
  kind: "call",
  message,
  name: `library_${name}`,
  arguments: args,
  digest: "",
  outcome: value === undefined ? { kind: "refused", message: "no" } : { kind: "ok", value },
});

const formatGoals = (...events: Event[]) =>
  extractGoals(events, getDependencyGraph(library)).map(
    it =>
      `${it.turn}: ${it.calls.map(({ name }) => name.slice(8)).join("+")}${it.after.map(of => ` <- ${of.goal} ${of.kind}${of.via ? ` ${of.via}` : ""}`).join("")}`,
  );

test("a value comes from the first result that shows it; calls of one message are one goal", () => {
  expect(
    formatGoals(
      user("Lend Emma to Ada, pin 4321."),
      call(0, "list_books", { title: "Emma" }, { books: [{ title: "Emma", book_id: "book_11" }] }),
      call(0, "find_member", { name: "Ada" }, { name: "Ada", member_id: "mem_21" }),
      call(1, "get_book", { book_id: "book_11" }, { title: "Emma", book_id: "book_11" }),
      call(
        2,
        "lend",
        { book_id: "book_11", member_id: "mem_21", pin: "4321" },
        { loan_id: "loan_7" },
      ),
      user("And back."),
      call(3, "return_loan", { loan_id: "loan_7" }, { loan_id: "loan_7" }),
    ),
  ).toEqual([
    "0: list_books+find_member",
    "0: get_book <- 0 explicit book_id",
    "0: lend <- 0 explicit book_id",
    "1: return_loan <- 2 explicit loan_id",
  ]);
});

test("a call that repeats its own argument is no source of it", () => {
  expect(
    formatGoals(
      user("Take the book from the first shelf and lend it."),
      call(0, "list_books", {}, { books: [{ title: "Emma", book_id: "book_11" }] }),
      call(1, "reserve", { book_id: "book_11" }, { book_id: "book_11", place: 1 }),
      call(2, "lend", { book_id: "book_11" }, { loan_id: "loan_7" }),
    ),
  ).toEqual([
    "0: list_books",
    "0: reserve <- 0 explicit book_id",
    expect.stringMatching(/^0: lend <- 0 explicit book_id/),
  ]);
  expect(
    formatGoals(
      user("Lend it to the 12th and remind me."),
      call(0, "lend", { until: "2026-03-12" }, { until: "2026-03-12", loan_id: "loan_7" }),
      call(1, "remind", { on: "2026-03-12" }, {}),
    ),
  ).toEqual(["0: lend", "0: remind"]);
});

test("a value that the user has said makes no edge", () => {
  expect(
    formatGoals(
      user("Return loan_31."),
      call(0, "list_books", {}, { loan: "loan_31" }),
      call(1, "return_loan", { loan_id: "loan_31" }, {}),
    ),
  ).toEqual(["0: list_books", "0: return_loan"]);
  expect(
    formatGoals(
      user("Return it."),
      call(0, "list_books", {}, { loan: "loan_31" }),
      call(1, "return_loan", { loan_id: "loan_31" }, {}),
      user("loan_31"),
    ),
  ).toEqual(["0: list_books", "0: return_loan <- 0 explicit loan_id"]);
});

test("a precondition is an implicit edge from its latest call", () => {
  expect(
    formatGoals(
      user("a"),
      call(0, "open_desk", {}, { open: true }),
      call(1, "open_desk", {}, { open: true }),
      call(2, "lend", { pin: "4321" }, {}),
    ),
  ).toEqual(["0: open_desk", "0: open_desk", "0: lend <- 1 implicit"]);
});

test("failed calls are not goals, and their results make no edges", () => {
  expect(
    formatGoals(
      user("a"),
      call(0, "find_member", { name: "Bo" }, undefined),
      call(1, "list_books", {}, { books: [] }),
    ),
  ).toEqual(["0: list_books"]);
  expect(formatGoals(user("a"))).toEqual([]);
});

test("small numbers, booleans and short words do not make edges", () => {
  expect(
    formatGoals(
      user("a"),
      call(0, "list_books", {}, { n: 3, yes: true, s: "ab", big: 12 }),
      call(1, "get_book", { n: 3, yes: true, s: "ab" }, {}),
      call(2, "get_book", { big: 12 }, {}),
    ),
  ).toEqual(["0: list_books", "0: get_book", "0: get_book <- 0 explicit big"]);
});

const tokens: [text: string, value: string, is: boolean][] = [
  ["it ends in 4321.", "4321", true],
  ["14321", "4321", false],
  ["book_112", "book_11", false],
  ["café", "caf", false],
  ["x book_112 book_11", "book_11", true],
];
test.each(tokens)("%s contains the token %s: %s", (text, value, is) => {
  expect(containsToken(text, value)).toBe(is);
});

test("a look-up says which values it supplies, or which facts it answers with", () => {
  const facts = [{ entity: "book_11", field: "shelf", value: "B4" }];
  const events = [
    user("Where is Emma?"),
    call(0, "list_books", { title: "Emma" }, { books: [{ title: "Emma", book_id: "book_11" }] }),
    call(1, "get_book", { book_id: "book_11" }, { book_id: "book_11", shelf: "B4" }),
    user("Lend it to Ada."),
    call(2, "find_member", { name: "Ada" }, { name: "Ada", member_id: "mem_21" }),
    call(3, "lend", { book_id: "book_11", member_id: "mem_21" }, undefined),
  ];
  const getPurposes = (given: readonly Event[]) =>
    extractGoals(given, getDependencyGraph(library), it =>
      it.name === "library_get_book" ? { for: "answers", facts } : { for: "feeds" },
    ).flatMap(({ calls }) => calls.map(it => ({ ...it, name: undefined, arguments: undefined })));
  expect(getPurposes(events)).toEqual([
    { for: "feeds", values: ["book_11"] },
    { for: "answers", facts },
    // lending was refused: the user learns why only if the member is found
    { for: "answers", facts: [{ entity: "mem_21" }] },
  ]);
  const recovered = call(4, "lend", { book_id: "book_11", member_id: "mem_21" }, {});
  expect(getPurposes([...events, recovered]).at(2)).toEqual({ for: "feeds", values: ["mem_21"] });
});

test("where the teacher does not say it, what the reply tells decides what a look-up is for", () => {
  const events = (reply: string) => [
    user("Lend Emma to Ada, pin 4321."),
    call(0, "list_books", { title: "Emma" }, { books: [{ book_id: "book_11", shelf: "Bay 4" }] }),
    call(1, "lend", { book_id: "book_11", pin: "4321" }, { loan_id: "loan_7" }),
    { kind: "assistant", message: 2, text: reply } as const,
  ];
  const getPurposes = (reply: string) =>
    extractGoals(events(reply), getDependencyGraph(library), it =>
      it.name === "library_lend" ? undefined : "unknown",
    ).flatMap(it => it.calls.map(goalCall => goalCall.for));
  expect(getPurposes("It is lent.")).toEqual(["feeds", undefined]);
  expect(getPurposes("It is lent, from Bay 4.")).toEqual([undefined, undefined]);
});
