/**
 * A state from outside, checked against its servers' schemas before it becomes a session's. Knows
 * neither sessions nor who sent it.
 */
import { z } from "zod";
import { checkJson } from "../storage/parseJson.ts";
import { minute } from "./fieldSchemas.ts";
import { deepFreeze } from "./digest.ts";
import type { Server } from "./server.ts";
import type { State } from "./session.ts";

const schemas = new WeakMap<Server, z.ZodType>();

function schemaOf(server: Server): z.ZodType {
  let schema = schemas.get(server);
  if (!schema)
    schemas.set(
      server,
      (schema = z.strictObject({ world: server.schema, clock: minute(), draws: z.int().min(0) })),
    );
  return schema;
}

/**
 * The value as a state of exactly these servers, deeply frozen. Throws a `Mistake` that names the
 * first place that does not fit.
 */
export function parseState(servers: readonly Server[], value: unknown): State {
  const schema = z.strictObject(Object.fromEntries(servers.map(it => [it.name, schemaOf(it)])));
  const state = checkJson(schema, value, {
    file: "the value",
    noun: "a state of these servers",
    remedy: "send a state that a session of the same servers returned",
  });
  return deepFreeze(state) as unknown as State;
}
