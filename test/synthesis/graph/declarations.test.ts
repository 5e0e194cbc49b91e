/** Declarations of tools are read from their schemas. */
import { expect, test } from "vitest";
import { z } from "zod";
import { id, label, spokenId } from "../../../src/environment/fieldSchemas.ts";
import { defineServer, createToolFactory } from "../../../src/environment/server.ts";
import { getDeclarations, isSensitiveArgument } from "../../../src/synthesis/graph/declarations.ts";
import { findEntities } from "../../../src/trajectory/entities.ts";
import { library } from "../libraryServer.ts";
import { isSubstitute } from "../../../src/synthesis/pipeline/menu/menu.ts";

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

test("an argument declared as sensitive is sensitive under any name", () => {
  expect(isSensitiveArgument("digits", { "x-sensitive": true })).toBe(true);
});

test("the inputs of a tool are entities, labels and values", () => {
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

test("an entity without ids is identified by its label, which users say", () => {
  const { inputs } = getDeclarations(club).get("club_invite")!;
  expect(inputs.map(it => [it.key, it.entity, it.isSpoken, it.isList])).toEqual([
    ["room", "room", true, false],
    ["people", "person", true, true],
  ]);
});

test("the entities of a result are found row by row", () => {
  const declaration = getDeclarations(club).get("club_invite")!;
  expect(
    findEntities(declaration, {
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

test("two reads with the same inputs and outputs are substitutes, other tools are not", () => {
  const getDeclaration = (name: string) => getDeclarations(library).get(`library_${name}`)!;
  expect(isSubstitute(getDeclaration("list_books"), getDeclaration("list_books"))).toBe(true);
  expect(isSubstitute(getDeclaration("list_books"), getDeclaration("get_book"))).toBe(false);
  expect(isSubstitute(getDeclaration("list_books"), getDeclaration("find_member"))).toBe(false);
  expect(isSubstitute(getDeclaration("lend"), getDeclaration("return_loan"))).toBe(false);
});
