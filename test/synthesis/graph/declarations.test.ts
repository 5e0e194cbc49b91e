/** What a tool declares, read off its schemas. */
import { expect, test } from "vitest";
import { z } from "zod";
import { id, label, spokenId } from "../../../src/environment/fieldSchemas.ts";
import { defineServer, createToolFactory } from "../../../src/environment/server.ts";
import { getDeclarations, isSensitiveArgument } from "../../../src/synthesis/graph/declarations.ts";
import { findEntities } from "../../../src/synthesis/graph/resultEntities.ts";
import { library } from "../library.ts";
import { isSubstitute } from "../../../src/synthesis/pipeline/substitutes.ts";

const secrets: [key: string, is: boolean][] = [
  ["pin", true],
  ["user_pin", true],
  ["accessToken", true],
  ["api_key", true],
  ["apiKey", true],
  ["card_number", true],
  ["shipping", false],
  ["opinion", false],
  ["number", false],
  ["key", false],
];
test.each(secrets)("%s is sensitive by its name: %s", (key, is) => {
  expect(isSensitiveArgument(key, {})).toBe(is);
});

test("what is declared so is sensitive whatever its name", () => {
  expect(isSensitiveArgument("digits", { "x-sensitive": true })).toBe(true);
});

test("entities, labels and values of an input", () => {
  const { inputs, labels, values } = getDeclarations(library).get("library_lend")!;
  expect(inputs.map(it => [it.key, it.entity, it.isRequired, it.isSpoken, it.isList])).toEqual([
    ["book_id", "book", true, false, false],
    ["member_id", "member", true, false, false],
  ]);
  expect(labels).toEqual([]);
  expect(values.map(it => [it.key, it.isSensitive])).toEqual([["pin", true]]);
  expect(
    getDeclarations(library)
      .get("library_list_books")!
      .labels.map(it => [it.key, it.entity, it.isRequired]),
  ).toEqual([["title", "book", false]]);
});

const tool = createToolFactory(z.strictObject({}));
const club = defineServer({
  name: "club",
  category: "Test",
  summary: "",
  schema: z.strictObject({}),
  tools: {
    invite: tool({
      effect: "read",
      summary: "",
      input: { people: z.array(label("person")).optional(), room: spokenId("room").nullable() },
      returns: {
        host: label("person"),
        rooms: z.array(spokenId("room")),
        talks: z
          .array(z.object({ talk_id: id("talk"), by: label("person"), minutes: z.int() }))
          .optional(),
      },
      run: () => ({ host: "Ada", rooms: ["north"] as string[] }),
    }),
  },
});

test("an entity without ids goes by its label, which people say", () => {
  const { inputs } = getDeclarations(club).get("club_invite")!;
  expect(inputs.map(it => [it.key, it.entity, it.isSpoken, it.isList])).toEqual([
    ["room", "room", true, false],
    ["people", "person", true, true],
  ]);
});

test("what a result shows, row by row", () => {
  const declared = getDeclarations(club).get("club_invite")!;
  expect(
    findEntities(declared, {
      host: "Ada",
      rooms: ["north"],
      talks: [{ talk_id: "talk_1", by: "Bo", minutes: 5 }],
    }),
  ).toEqual([
    { entity: "person", id: "Ada", label: "Ada", facts: {} },
    { entity: "room", id: "north", facts: {} },
    { entity: "talk", id: "talk_1", facts: { minutes: 5 } },
    { entity: "person", id: "Bo", label: "Bo", facts: {} },
  ]);
});

test("two reads that would do the same are substitutes, others are not", () => {
  const of = (name: string) => getDeclarations(library).get(`library_${name}`)!;
  expect(isSubstitute(of("list_books"), of("list_books"))).toBe(true);
  expect(isSubstitute(of("list_books"), of("get_book"))).toBe(false);
  expect(isSubstitute(of("list_books"), of("find_member"))).toBe(false);
  expect(isSubstitute(of("lend"), of("return_loan"))).toBe(false);
});
