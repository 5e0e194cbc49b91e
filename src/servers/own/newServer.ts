/** The files of a new server of a workspace: a small library that runs, to be changed. */
import { fixtureFormat } from "../../environment/fixture.ts";
import { UserError } from "../../userError.ts";

/** The names that a server may have. */
export const serverNamePattern = /^[a-z][a-z0-9_]{1,30}$/;

/**
 * The texts of the files by their paths under the workspace's `prove` folder, the first of which is
 * the one to edit. Throws a `UserError` if the name is not that of a server.
 */
export function createServerFiles(name: string): ReadonlyMap<string, string> {
  if (!serverNamePattern.test(name))
    throw new UserError(
      `${name} cannot be the name of a server`,
      "use lower-case letters, digits and _, and begin with a letter, such as my_library",
    );
  return new Map([
    [`servers/${name}/server.ts`, createModule(name)],
    [`servers/${name}/templates.json`, `${JSON.stringify(createTemplates(name), null, 2)}\n`],
    [`fixtures/${name}/full.fixture.json`, `${JSON.stringify(createFixture(name), null, 2)}\n`],
  ]);
}

const createModule = (name: string) => `/** A library: books, and who has borrowed them. */
import {
  ascending,
  contains,
  createTableFactory,
  createToolFactory,
  day,
  defineServer,
  defineStateRule,
  getSchemas,
  id,
  label,
  phrase,
  refuse,
  z,
} from "prove-rl/server";

const Library = z.strictObject({
  books: z.record(z.string(), z.strictObject({ title: z.string(), author: z.string() })),
  loans: z.record(
    z.string(),
    z.strictObject({ book_id: z.string(), reader: z.string(), since: day() }),
  ),
});
type Library = z.infer<typeof Library>;

const tool = createToolFactory(Library);
const createTable = createTableFactory(Library);
const books = createTable("books", { entity: "book", idsFrom: "${name}_list_books" });
const loans = createTable("loans", { entity: "loan", idsFrom: "${name}_list_loans" });

const bookFields = books.fields({ book: [label("book"), it => it.title], book_id: books.idField });

const findLoan = (state: Library, bookId: string) =>
  Object.entries(state.loans).find(([, it]) => it.book_id === bookId);

const tools = {
  list_books: books.list({
    summary: "List the books of the library by title.",
    filters: {
      title: contains(label("book"), "Only books whose title contains this", it => it.title),
      author: contains(phrase(1, 80), "Only books by this author", it => it.author),
    },
    row: { ...bookFields, author: z.string() },
    order: ascending(it => it.title),
    limit: 10,
  }),
  list_loans: loans.list({
    summary: "List the loans, the oldest first.",
    filters: {
      reader: contains(phrase(1, 80), "Only loans of this reader", it => it.reader),
    },
    row: {
      loan_id: loans.idField,
      book: [label("book"), (it, { world }) => books.find(world, it.book_id).title],
      book_id: [id("book"), it => it.book_id],
      reader: z.string(),
      since: day(),
    },
    order: ascending(it => it.since),
    limit: 10,
  }),
  lend_book: tool({
    effect: "write",
    summary: "Lend a book to a reader. A book can be lent to one reader at a time.",
    input: {
      book_id: books.id,
      reader: phrase(1, 80)
        .describe("Who takes the book")
        .meta({ examples: ["Ida Holm", "Noor Aziz", "Tom Becker", "Lena Vogt", "Omar Said"] }),
    },
    returns: { ...getSchemas(bookFields), loan_id: id("loan"), reader: z.string() },
    run(state, { book_id, reader }, { now, newId }) {
      const book = books.find(state, book_id).title;
      const known = findLoan(state, book_id);
      if (known)
        refuse("conflict", \`\${book} is lent to \${known[1].reader}\`, "take it back first");
      const loan_id = newId("loan");
      state.loans[loan_id] = { book_id, reader, since: now.slice(0, 10) };
      return { book, book_id, loan_id, reader };
    },
  }),
  return_book: tool({
    effect: "write",
    summary: "Take a book back.",
    input: { book_id: books.id },
    returns: { ...getSchemas(bookFields), reader: z.string() },
    run(state, { book_id }) {
      const book = books.find(state, book_id).title;
      const known = findLoan(state, book_id);
      if (!known) return refuse("precondition_failed", \`\${book} is not lent\`);
      const [loanId, { reader }] = known;
      delete state.loans[loanId];
      return { book, book_id, reader };
    },
  }),
};

export const server = defineServer({
  name: "${name}",
  category: "Own",
  summary: "books, and who has borrowed them",
  schema: Library,
  references: { "loans.*.book_id": "books" },
  tools,
  invariants: [
    defineStateRule<Library>("A book is lent to one reader at a time.", function* (state) {
      const lent = new Set<string>();
      for (const [loanId, { book_id }] of Object.entries(state.loans)) {
        if (lent.has(book_id)) yield \`\${loanId} lends \${book_id} again\`;
        lent.add(book_id);
      }
    }),
  ],
});
`;

const createTemplates = (name: string) => ({
  format: "prove/templates@1",
  server: name,
  entities: {
    book: {
      noun: "book",
      mention: ['"{label}"', 'the book "{label}"'],
      again: ["it", "that book"],
    },
  },
  arguments: { limit: { values: [2, 3, 4, 5] } },
  tools: {
    [`${name}_list_books`]: {
      forms: ["which books by {author} are there?", "(list|show me) the books by {author}"],
      item: '"{book}" by {author}',
      reply: [{ say: "There is one: {items}.", if: { count: 1 } }, "There are {items}."],
      empty: ["There are no such books."],
    },
    [`${name}_list_loans`]: {
      forms: ["what has {reader} borrowed?", "(list|show me) the {limit} oldest loans"],
      item: '"{book}" ({reader}, since {since})',
      reply: [{ say: "There is one: {items}.", if: { count: 1 } }, "These are lent: {items}."],
      empty: ["There are no such loans."],
    },
    [`${name}_lend_book`]: {
      forms: ["lend {book_id} to {reader}", "(note|write down) that {reader} takes {book_id}"],
      missing: {
        reader: { forms: ["lend {book_id}"], ask: ["Who takes it?"], answer: ["{reader}"] },
      },
      reply: ['"{book}" is lent to {reader}.'],
      refused: { conflict: ["{book_id} is lent already."] },
    },
    [`${name}_return_book`]: {
      forms: ["(take|mark) {book_id} (back|as returned)", "{book_id} was brought back, note that"],
      reply: ['{reader} has returned "{book}".'],
      refused: { precondition_failed: ["{book_id} is not lent."] },
    },
  },
});

const titles = [
  ["The Salt Road", "Mara Lind"],
  ["Winter Harbour", "Mara Lind"],
  ["A Field of Clocks", "Jonas Petri"],
  ["The Glass Orchard", "Jonas Petri"],
  ["Letters from Ostrava", "Eva Novak"],
  ["The Quiet Engine", "Eva Novak"],
  ["Maps for Beginners", "Ravi Menon"],
  ["The Long Afternoon", "Ravi Menon"],
  ["Northern Birds", "Solveig Dahl"],
  ["The Ferry at Dawn", "Solveig Dahl"],
  ["Seven Bridges", "Paul Okoro"],
  ["A Garden in Town", "Paul Okoro"],
] as const;

const createFixture = (name: string) => ({
  format: fixtureFormat,
  server: name,
  name: "full",
  now: "2026-03-09T09:00",
  state: {
    books: Object.fromEntries(
      titles.map(([title, author], i) => [`book_${101 + i}`, { title, author }]),
    ),
    loans: Object.fromEntries(
      (
        [
          [1, "Ida Holm", "2026-02-10"],
          [4, "Noor Aziz", "2026-02-17"],
          [6, "Tom Becker", "2026-02-24"],
          [9, "Ida Holm", "2026-03-02"],
          [11, "Lena Vogt", "2026-03-05"],
        ] as const
      ).map(([book, reader, since], i) => [
        `loan_${101 + i}`,
        { book_id: `book_${100 + book}`, reader, since },
      ]),
    ),
  },
});
