/** Errors about JSON name the file, the line and the value. */
import { expect, test } from "vitest";
import { z } from "zod";
import { parseJson, readJsonFile } from "../../src/storage/parseJson.ts";

const schema = z.strictObject({
  name: z.string(),
  servers: z.array(z.strictObject({ port: z.int() })).optional(),
});
const check = (text: string, expected: string | RegExp, line?: number) =>
  expect(() =>
    parseJson(schema, text, {
      file: "F",
      noun: "a service",
      ...(line === undefined ? {} : { line }),
    }),
  ).toThrow(expected);

test("a value that fits is returned", () =>
  expect(parseJson(schema, '{"name":"a"}', { file: "F" })).toEqual({ name: "a" }));

test("a value that does not fit is named with its line", () =>
  check(
    '{\n  "name": "a",\n  "servers": [\n    { "port": 1 },\n    { "port": "two" }\n  ]\n}',
    /^F:5 is not a service: at \/servers\/1\/port: .*: correct the file$/,
  ));

test("of a union, the value that does not fit in the branch that fits furthest is named", () => {
  const union = z.union([
    z.object({ kind: z.literal("a"), calls: z.array(z.object({ arguments: z.object({}) })) }),
    z.object({ kind: z.literal("b"), text: z.string() }),
  ]);
  const read = (text: string) => () => parseJson(z.array(union), text, { file: "F" });
  expect(read('[{"kind":"a","calls":[{"arguments":null}]}]')).toThrow(
    "F:1 is not valid: at /0/calls/0/arguments: Invalid input: expected object, received null",
  );
  expect(read("[5]")).toThrow("at /0: Invalid input: expected object, received number");
  expect(read('[{"kind":"c"}]')).toThrow('at /0/kind: Invalid input: expected "a" or "b"');
  expect(read('[{"kind":"b","text":3}]')).toThrow("at /0/text: Invalid input: expected string");
  const either = z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]);
  const nested = z.object({ x: z.union([z.string(), z.array(z.union([z.null(), either]))]) });
  const readNested = (text: string) => () => parseJson(nested, text, { file: "F" });
  expect(readNested('{"x":5}')).toThrow("at /x: Invalid input: expected string or array, received");
  expect(readNested('{"x":[null,{"b":"y"}]}')).toThrow(
    /at \/x\/1: a: .*; or b: Invalid input: exp/,
  );
});

test("of a value that is missing, the line of its object is named", () =>
  check('{"servers":\n [\n  {}]}', /^F:1 is not a service: at \/name: /));

test("text that is not JSON is named with the line of the error", () => {
  check('{\n  "name": "a",\n}', /^F:3 is not JSON \(.*\): correct the file$/);
  check('{\n  // a comment\n  "name": "a"\n}', /^F:2 is not JSON/);
  check("", /is not JSON/);
});

test("one line of JSON Lines is named by its own number", () => {
  check('{"name":1}', /^F:7 is not a service: at \/name: .*: correct or delete that line$/, 7);
  check("{", /^F:7 is not JSON \(.*\): correct or delete that line$/, 7);
});

test("another format is reported first, a newer one with the remedy to update", () => {
  const read = (format: unknown) => () =>
    parseJson(schema, JSON.stringify({ format }), { file: "F", format: "prove/x@2" });
  expect(read("prove/x@3")).toThrow(
    /^F has the format prove\/x@3, which is newer .*: update PROVE$/,
  );
  expect(read("prove/y@1")).toThrow('F is not valid (format "prove/y@1")');
  expect(read(undefined)).toThrow("F is not valid (format missing): its format must be prove/x@2");
});

test("a file that is missing is an error that the user can fix", () =>
  expect(() => readJsonFile(schema, "/nowhere.json")).toThrow(
    "there is no file /nowhere.json: check the path",
  ));
