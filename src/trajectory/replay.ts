/**
 * A trajectory run again on a fresh session with the same fixtures, seed and menu. It is the one
 * time machine: stepping back, validating and grading are all replay. Does not know why anyone
 * wants to.
 */
import { openByName, type Catalog } from "../environment/catalog.ts";
import { fixtureDigest } from "../environment/fixture.ts";
import { canonical } from "../environment/json.ts";
import type { State } from "../environment/session.ts";
import { callEventOf, type CallEvent, type Header, type Trajectory } from "./trajectory.ts";

/**
 * How a step compares: byte for byte the same, or different, and then whether something it was
 * pinned to is no longer what it was.
 */
export type Verdict = "same" | "differs" | "fixture changed" | "tool changed";

export interface ReplayedStep {
  /** Position among the calls, from 0. */
  readonly call: number;
  /** Index among the trajectory's events. */
  readonly event: number;
  readonly recorded: CallEvent;
  /** With the patches, whether the file keeps them or not. */
  readonly replayed: CallEvent;
  readonly verdict: Verdict;
  /** The fields that differ. */
  readonly differs: readonly (keyof CallEvent)[];
  readonly before: State;
  readonly after: State;
}

/** What a whole replay came to: of its first step that differs. */
export interface Replay {
  readonly verdict: Verdict;
  readonly steps: number;
  readonly first?: ReplayedStep;
  /** What differs and what to do about it; absent where all is the same. */
  readonly what?: string;
  readonly remedy?: string;
}

/** The state that a trajectory starts from. */
export const startOf = (catalog: Catalog, { header }: Trajectory): State =>
  openByName(catalog, header).state;

/**
 * Replays call by call; each step is run when it is asked for. Throws a `Mistake` where a server or
 * a fixture is gone.
 */
export function* replay(catalog: Catalog, trajectory: Trajectory): Generator<ReplayedStep, void> {
  const { header, events } = trajectory;
  const session = openByName(catalog, header);
  const changed = changeOf(catalog, header).verdict;
  let call = 0;
  for (const [event, recorded] of events.entries()) {
    if (recorded.kind !== "call") continue;
    const before = session.state;
    const replayed = callEventOf(
      recorded.message,
      recorded.name,
      recorded.arguments,
      session.call(recorded.name, recorded.arguments),
    );
    const differs = differences(recorded, replayed);
    const verdict = differs.length === 0 ? "same" : changed;
    yield {
      call: call++,
      event,
      recorded,
      replayed,
      verdict,
      differs,
      before,
      after: session.state,
    };
  }
}

/** Replays to the end and says what it came to. */
export function checkReplay(catalog: Catalog, trajectory: Trajectory): Replay {
  let steps = 0;
  let first: ReplayedStep | undefined;
  for (const step of replay(catalog, trajectory)) {
    steps++;
    if (step.verdict !== "same") first ??= step;
  }
  if (!first) return { verdict: "same", steps };
  const { what, remedy } = changeOf(catalog, trajectory.header);
  return {
    verdict: first.verdict,
    steps,
    first,
    what:
      what ??
      `call ${first.call + 1}, ${first.recorded.name}, gives another ${first.differs.join(", ")}`,
    remedy,
  };
}

/**
 * What of that to which a trajectory is pinned is no longer what it was; `differs` where all of it
 * is.
 */
export interface Change {
  readonly verdict: Exclude<Verdict, "same">;
  readonly what?: string;
  readonly remedy: string;
}

/** Holds the pins of a header to the catalog as it is now. */
export function changeOf(
  catalog: Catalog,
  { servers, catalog: hash }: Pick<Header, "servers" | "catalog">,
): Change {
  const changed = servers.filter(
    it => fixtureDigest(catalog.fixture(it.name, it.fixture)) !== it.digest,
  );
  if (changed.length > 0) {
    const names = changed.map(it => `${it.fixture} of ${it.name}`).join(", ");
    return {
      verdict: "fixture changed",
      what: `the fixture ${names} has changed since`,
      remedy: "restore that fixture, or synthesize the tasks anew",
    };
  }
  if (catalog.hash(servers.map(it => it.name)) !== hash)
    return {
      verdict: "tool changed",
      what: `the tools of ${servers.map(it => it.name).join(", ")} have changed since`,
      remedy: "synthesize the tasks anew",
    };
  return {
    verdict: "differs",
    remedy: "the record was edited, or a tool is not deterministic: report it with this file",
  };
}

const compared = ["outcome", "value", "type", "error", "hint", "digest"] as const;

function differences(recorded: CallEvent, replayed: CallEvent): readonly (keyof CallEvent)[] {
  // what broke says where in the program it broke, which is no part of the world
  const fields =
    recorded.outcome === "broken" && replayed.outcome === "broken"
      ? (["digest"] as const)
      : compared;
  return fields.filter(it => canonical(recorded[it]) !== canonical(replayed[it]));
}
