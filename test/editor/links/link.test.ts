/** Links to attempts, from their parts and back. */
import { describe, expect, test } from "vitest";
import { formatLink, parseLink, type AttemptLink } from "../../../src/editor/links/link.ts";

const links: AttemptLink[] = [
  { task: "task-1-7" },
  { task: "a task & more", call: 2 },
  { task: "task-1", attempt: { run: "first run=1", step: 20, number: 0 } },
  { task: "task-1", attempt: { run: "first-1", step: 0, number: 7 }, call: 0 },
];

test.each(links)("$task comes back from its address", link => {
  expect(parseLink(formatLink(link))).toEqual(link);
});

test("people count calls and attempts from 1", () => {
  expect(formatLink(links[3]!)).toEqual({
    path: "/open",
    query: "run=first-1&step=0&task=task-1&attempt=8&call=1",
  });
});

describe("an address that is no link is refused, with the form that links have", () => {
  test.each([
    ["/train", "task=a", "there is nothing at /train"],
    ["/open", "", "the link names no task"],
    ["/open", "task=a&call=0", "call in the link is not a number from 1"],
    ["/open", "task=a&call=1e9", "call in the link is not a number from 1"],
    ["/open", "task=a&run=first", "the link names a run, but no step or attempt"],
    ["/open", "task=a&run=first&step=-1&attempt=1", "step in the link is not a number from 0"],
  ])("%s?%s", (path, query, what) => {
    expect(() => parseLink({ path, query })).toThrow(
      expect.objectContaining({ what, remedy: expect.stringContaining("open?task=ID") as string }),
    );
  });
});
