/** A sample has the entities that read tools return, and sampling does not change the session. */
import { expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import { sampleEntities } from "../../../src/synthesis/user/entities/entitySample.ts";
import { library, openLibrarySession } from "../libraryServer.ts";

test("instances have a label, facts and parents", () => {
  const session = openLibrarySession();
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

test("tools that require a label are not called", () => {
  const sample = sampleEntities(library, openLibrarySession(), createRandom(1));
  expect(sample.find("member", "mem_21")).toBeUndefined();
});
