/** A sample holds what read tools show, and looking around changes nothing. */
import { expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import { sampleEntities } from "../../../src/synthesis/user/entitySampling.ts";
import { library, openLibrary } from "../library.ts";

test("things by entity, with label, facts and what they hang on", () => {
  const session = openLibrary();
  const before = session.digest;
  const { instances } = sampleEntities(library, session, createRandom(1));
  expect(session.digest).toBe(before);
  const byId = Object.fromEntries(
    [...instances].map(([entity, all]) => [
      entity,
      [...all].sort((a, b) => (a.id < b.id ? -1 : 1)),
    ]),
  );
  expect(byId).toEqual({
    book: [
      {
        entity: "book",
        id: "book_11",
        label: "Emma",
        facts: { title: "Emma", copies: 1 },
        parents: {},
      },
      {
        entity: "book",
        id: "book_12",
        label: "Ulysses",
        facts: { title: "Ulysses", copies: 0 },
        parents: {},
      },
    ],
    shelf: [
      { entity: "shelf", id: "north", facts: {}, parents: {} },
      { entity: "shelf", id: "south", facts: {}, parents: {} },
    ],
    loan: [{ entity: "loan", id: "loan_31", facts: { by: "Ada" }, parents: { book: "book_12" } }],
  });
});

test("a look-up that needs a name is not made up", () => {
  const sample = sampleEntities(library, openLibrary(), createRandom(1));
  expect(sample.find("member", "mem_21")).toBeUndefined();
});
