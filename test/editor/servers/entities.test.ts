/** The entities of a world, as a person chooses from them. */
import { expect, test } from "vitest";
import { listEntities } from "../../../src/editor/servers/entities.ts";
import { describeEntity } from "../../../src/editor/shared/valueText.ts";
import { readForm, type Field } from "../../../src/editor/servers/argumentForm.ts";
import { openSessionByName } from "../../../src/environment/catalog.ts";
import { catalog } from "../../contracts/doors.ts";

const open = (server: string, fixture: string) =>
  openSessionByName(catalog, { servers: [{ name: server, fixture }], seed: 1 });

test("from the table that is named after them", () => {
  expect(listEntities("account", "banking", open("banking", "small"))).toContainEqual({
    id: "acc_115",
    description: "Holiday fund",
  });
});

test("where there is no such table, from what the server lists", () => {
  const session = open("filesystem", "full");
  const before = session.digest;
  expect(listEntities("trash_item", "filesystem", session)).toContainEqual({
    id: "trash_101",
    description: "old-logo.txt",
  });
  expect(session.digest).toBe(before);
});

test("a kind that nobody knows has none", () => {
  expect(listEntities("dragon", "banking", open("banking", "small"))).toEqual([]);
});

test("an entity is known by its words, else by its first values", () => {
  expect(["Everyday", "Food", "09:00, 3", "2 items"]).toEqual(
    [
      { name: "Everyday", balance: 1 },
      { title: "Food" },
      { at: "09:00", size: 3, tags: [] },
      [1, 2],
    ].map(describeEntity),
  );
});

test("every server has entities to choose from", () => {
  const kindsOf = (field: Field): readonly string[] => [
    ...(field.entity ? [field.entity] : []),
    ...(field.kind === "list"
      ? kindsOf(field.item)
      : field.kind === "record"
        ? field.fields.flatMap(kindsOf)
        : []),
  ];
  for (const server of catalog.servers.values()) {
    const session = open(server.name, "full");
    const kinds = [
      ...new Set([...server.tools.values()].flatMap(it => readForm(it).flatMap(kindsOf))),
    ];
    const found = kinds.filter(it => listEntities(it, server.name, session).length > 0);
    expect(found.length, `${server.name}: none of ${kinds.join(", ")}`).toBeGreaterThan(0);
  }
});
