/** The entities of a session that a person can choose from. */
import { expect, test } from "vitest";
import { listEntities } from "../../../src/editor/servers/entities.ts";
import { describeEntity } from "../../../src/editor/shared/jsonValues.ts";
import { readForm, type Field } from "../../../src/editor/servers/argumentForm.ts";
import { openSessionByName } from "../../../src/environment/catalog.ts";
import { catalog } from "../../contracts/transports.ts";

const open = (server: string, fixture: string) =>
  openSessionByName(catalog, { servers: [{ name: server, fixture }], seed: 1 });

test("entities are listed from the table that is named after their kind", async () => {
  expect(await listEntities("account", "banking", open("banking", "small"))).toContainEqual({
    id: "acc_115",
    description: "Holiday fund",
  });
});

test("entities without a table are listed by calling read tools on a fork", async () => {
  const session = open("filesystem", "full");
  const before = session.digest;
  expect(await listEntities("trash_item", "filesystem", session)).toContainEqual({
    id: "trash_101",
    description: "old-logo.txt",
  });
  expect(session.digest).toBe(before);
});

test("an unknown kind has no entities", async () => {
  expect(await listEntities("dragon", "banking", open("banking", "small"))).toEqual([]);
});

test("an entity is described by its name or title, otherwise by its first values", () => {
  expect(["Everyday", "Food", "09:00, 3", "2 items"]).toEqual(
    [
      { name: "Everyday", balance: 1 },
      { title: "Food" },
      { at: "09:00", size: 3, tags: [] },
      [1, 2],
    ].map(describeEntity),
  );
});

test("every server has entities to choose from", async () => {
  const listKinds = (field: Field): readonly string[] => [
    ...(field.entity ? [field.entity] : []),
    ...(field.kind === "list"
      ? listKinds(field.item)
      : field.kind === "record"
        ? field.fields.flatMap(listKinds)
        : []),
  ];
  for (const server of catalog.servers.values()) {
    const session = open(server.name, "full");
    const kinds = [
      ...new Set([...server.tools.values()].flatMap(it => readForm(it).flatMap(listKinds))),
    ];
    const lists = await Promise.all(kinds.map(it => listEntities(it, server.name, session)));
    const nonEmpty = lists.filter(it => it.length > 0);
    expect(nonEmpty.length, `${server.name}: none of ${kinds.join(", ")}`).toBeGreaterThan(0);
  }
});
