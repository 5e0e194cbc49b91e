/** A server of seven tools, small enough to list every edge and entity by hand. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { openCatalog, type Catalog } from "../../src/environment/catalog.ts";
import { id, label, sensitive, spokenId } from "../../src/environment/fieldSchemas.ts";
import { fixtureFormat, type Fixture } from "../../src/environment/fixture.ts";
import {
  defineServer,
  findEntity,
  refuse,
  createToolFactory,
} from "../../src/environment/server.ts";
import { openSession, type Session } from "../../src/environment/session.ts";

const Library = z.strictObject({
  isOpen: z.boolean(),
  books: z.record(
    z.string(),
    z.strictObject({ title: z.string(), shelf: z.string(), copies: z.int() }),
  ),
  members: z.record(z.string(), z.strictObject({ name: z.string(), pin: z.string() })),
  loans: z.record(z.string(), z.strictObject({ book: z.string(), member: z.string() })),
});

const tool = createToolFactory(Library);

export const library = defineServer({
  name: "library",
  category: "Test",
  summary: "books, members and loans",
  schema: Library,
  tools: {
    open_desk: tool({
      effect: "write",
      summary: "Open the desk.",
      input: {},
      returns: { open: z.boolean() },
      run(world) {
        world.isOpen = true;
        return { open: true };
      },
    }),
    list_books: tool({
      effect: "read",
      summary: "List books.",
      input: { title: label("book").optional() },
      returns: {
        books: z.array(
          z.object({ title: label("book"), book_id: id("book"), shelf: spokenId("shelf") }),
        ),
      },
      run: ({ books }, { title }) => ({
        books: Object.entries(books).flatMap(([book_id, it]) =>
          title && it.title !== title ? [] : [{ title: it.title, book_id, shelf: it.shelf }],
        ),
      }),
    }),
    get_book: tool({
      effect: "read",
      summary: "Get a book and who has it.",
      input: { book_id: id("book") },
      returns: {
        title: label("book"),
        book_id: id("book"),
        copies: z.int(),
        loans: z.array(z.object({ by: z.string(), loan_id: id("loan") })),
      },
      run({ books, loans, members }, { book_id }) {
        const { title, copies } = findEntity(books, book_id, "book");
        const own = Object.entries(loans).filter(([, it]) => it.book === book_id);
        return {
          title,
          book_id,
          copies,
          loans: own.map(([loan_id, it]) => ({ by: members[it.member]!.name, loan_id })),
        };
      },
    }),
    find_member: tool({
      effect: "read",
      summary: "Find a member by name.",
      input: { name: label("member") },
      returns: { name: label("member"), member_id: id("member") },
      run({ members }, { name }) {
        const entry = Object.entries(members).find(([, it]) => it.name === name);
        return entry
          ? { name: entry[1].name, member_id: entry[0] }
          : refuse("not_found", `there is no member ${name}`);
      },
    }),
    lend: tool({
      effect: "write",
      summary: "Lend a book.",
      requires: ["open_desk"],
      input: { book_id: id("book"), member_id: id("member"), pin: sensitive(z.string()) },
      returns: { loan_id: id("loan") },
      run({ isOpen, books, members, loans }, { book_id, member_id, pin }, { newId }) {
        if (!isOpen) refuse("precondition_failed", "the desk is closed");
        const book = findEntity(books, book_id, "book");
        if (findEntity(members, member_id, "member").pin !== pin)
          refuse("permission_denied", "the pin is wrong");
        if (book.copies === 0) refuse("precondition_failed", `no copy of ${book.title} is left`);
        book.copies--;
        const loan_id = newId("loan");
        loans[loan_id] = { book: book_id, member: member_id };
        return { loan_id };
      },
    }),
    return_loan: tool({
      effect: "write",
      summary: "Take a book back.",
      input: { loan_id: id("loan") },
      returns: { loan_id: id("loan") },
      run({ books, loans }, { loan_id }) {
        const loan = findEntity(loans, loan_id, "loan");
        books[loan.book]!.copies++;
        delete loans[loan_id];
        return { loan_id };
      },
    }),
    dust_shelf: tool({
      effect: "write",
      summary: "Dust a shelf.",
      input: { shelf: spokenId("shelf") },
      returns: { dusted: z.string() },
      run: (_, { shelf }) => ({ dusted: shelf }),
    }),
  },
});

export const fixture: Fixture = {
  format: fixtureFormat,
  server: "library",
  name: "small",
  now: "2026-03-09T09:00",
  state: {
    isOpen: false,
    books: {
      book_11: { title: "Emma", shelf: "north", copies: 1 },
      book_12: { title: "Ulysses", shelf: "south", copies: 0 },
    },
    members: { mem_21: { name: "Ada", pin: "4321" } },
    loans: { loan_31: { book: "book_12", member: "mem_21" } },
  },
};

/** Creates a catalog of this server alone, with its fixture in a temporary folder. */
export function createLibraryCatalog(): Catalog {
  const folder = mkdtempSync(join(tmpdir(), "prove-rl-"));
  mkdirSync(join(folder, "library"));
  writeFileSync(join(folder, "library/small.fixture.json"), JSON.stringify(fixture));
  return openCatalog([library], [folder]);
}

export const openLibrarySession = (): Session =>
  openSession({ servers: [{ server: library, fixture }], seed: 1 });
