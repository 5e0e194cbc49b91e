/**
 * The interface of a server's fixture generator: how its state is generated from the shared cast,
 * and how its state is checked against the states of the other servers.
 */
import type { JsonObject } from "../../environment/json.ts";
import type { Random } from "../../environment/random.ts";
import type { Server } from "../../environment/server.ts";
import type { SharedCast } from "./cast.ts";

/**
 * `small`: under 8 KB, to read and to test by hand. `full`: 25 to 60 KB, for thousands of different
 * tasks.
 */
export type FixtureSize = "small" | "full";

/** The states of one fixture set, by server name. */
export type GeneratedStates = ReadonlyMap<string, JsonObject>;

export interface GeneratorContext {
  readonly cast: SharedCast;
  readonly size: FixtureSize;
  readonly random: Random;
  /** The states generated so far: banking, calendar and filesystem come before all others. */
  readonly states: GeneratedStates;
  /** Reads the state of this size that ships with a server. */
  readonly readShippedState: (server: string) => JsonObject;
  /**
   * The next id with this prefix: `inv_101`, `inv_104`, … Ids in a fixture stay below 1000, where
   * the ids of a session begin.
   */
  readonly nextId: (prefix: string) => string;
}

export interface FixtureGenerator {
  readonly server: Server;
  /** Whether it runs before the others, which may then read its state. */
  readonly runsFirst: boolean;
  /** The server's state. Equal contexts give equal bytes. */
  generate(context: GeneratorContext): object;
  /**
   * Describes, in one line each, where the server's state contradicts itself or the state of
   * another server, such as an invoice to a client who is not in the address book.
   */
  findInconsistencies(states: GeneratedStates, cast: SharedCast): readonly string[];
}

/** Creates a generator from functions that have the type of the server's state. */
export const defineGenerator = <State extends object>(generator: {
  server: Server;
  runsFirst?: true;
  generate(context: GeneratorContext): State;
  findInconsistencies(state: State, states: GeneratedStates, cast: SharedCast): readonly string[];
}): FixtureGenerator => ({
  server: generator.server,
  runsFirst: generator.runsFirst ?? false,
  generate: context => generator.generate(context),
  findInconsistencies: (states, cast) =>
    generator.findInconsistencies(states.get(generator.server.name) as State, states, cast),
});

const firstNumber = 101;
const numberStep = 3;

/** Returns a function that gives the next id of a prefix. */
export function createIdCounter(): (prefix: string) => string {
  const nextNumbers = new Map<string, number>();
  return prefix => {
    const number = nextNumbers.get(prefix) ?? firstNumber;
    if (number > 999) {
      const most = Math.floor((1000 - firstNumber) / numberStep);
      throw new Error(`a fixture has at most ${most} ids with the prefix ${prefix}`);
    }
    nextNumbers.set(prefix, number + numberStep);
    return `${prefix}_${number}`;
  };
}
