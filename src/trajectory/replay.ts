/**
 * Replays a trajectory on a fresh session with the same fixtures, seed and menu, and compares each
 * call with the record, or records the results anew. Stepping back, validation and grading of files
 * all use it.
 */
import { computeDigest } from "../environment/digest.ts";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import { isSameResult } from "../environment/listTotals.ts";
import type { CallResult } from "../environment/outcome.ts";
import type { Session } from "../environment/session.ts";
import type { State } from "../environment/state.ts";
import {
  createCallEvent,
  listCalls,
  type CallEvent,
  type Event,
  type Header,
  type Trajectory,
  formatCallLine,
} from "./trajectory.ts";

/**
 * How a step compares with its record: the same (see `isSameResult`), or different, and then
 * whether a fixture or tool that the trajectory pins has changed.
 */
type Verdict = "same" | "differs" | "fixture changed" | "tool changed";

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
  readonly differingFields: readonly LineField[];
  readonly before: State;
  readonly after: State;
}

/** The result of a whole replay, by its first step that differs. */
export interface ReplayResult {
  readonly verdict: Verdict;
  readonly steps: number;
  readonly first?: ReplayedStep;
  /** What differs and what to do about it; absent where every step is the same. */
  readonly what?: string;
  readonly remedy?: string;
}

/** The state that a trajectory starts from. Throws a `UserError` if a fixture is missing. */
export const openStartState = (catalog: Catalog, { header }: Trajectory): State =>
  openSessionByName(catalog, header).state;

/** A call of a record that was made again. */
interface RepeatedCall {
  /** Index among the events. */
  readonly index: number;
  readonly event: CallEvent;
  readonly result: CallResult;
}

/**
 * Makes the calls of events on a session, each when the generator is advanced, and puts the tools
 * that user events add on its menu.
 */
export function* repeatCalls(
  session: Pick<Session, "call" | "addTools">,
  events: readonly Event[],
): Generator<RepeatedCall, void> {
  for (const [index, event] of events.entries()) {
    if (event.kind === "user" && event.adds) session.addTools(event.adds);
    if (event.kind === "call")
      yield { index, event, result: session.call(event.name, event.arguments) };
  }
}

/**
 * Replays call by call; each step runs when the generator is advanced. The calls of an imported
 * attempt are not executed: their steps are as recorded. Throws a `UserError` where a server or a
 * fixture is missing.
 */
export function* replayTrajectory(
  catalog: Catalog,
  trajectory: Trajectory,
): Generator<ReplayedStep, void> {
  const { header, events } = trajectory;
  const session = openSessionByName(catalog, header);
  if (header.imported) {
    for (const [call, recorded] of listCalls(trajectory).entries())
      yield {
        call,
        event: events.indexOf(recorded),
        recorded,
        replayed: recorded,
        verdict: "same",
        differingFields: [],
        before: session.state,
        after: session.state,
      };
    return;
  }
  const changed = findChange(catalog, header).verdict;
  let call = 0;
  let before = session.state;
  for (const { index, event: recorded, result } of repeatCalls(session, events)) {
    const { message, name, arguments: args } = recorded;
    const replayed = createCallEvent(message, name, args, result);
    const differingFields = findDifferences(recorded, replayed);
    const verdict = differingFields.length === 0 ? "same" : changed;
    const after = session.state;
    yield {
      call: call++,
      event: index,
      recorded,
      replayed,
      verdict,
      differingFields,
      before,
      after,
    };
    before = after;
  }
}

/** Replays to the end and summarizes the result. */
export function checkReplay(catalog: Catalog, trajectory: Trajectory): ReplayResult {
  let steps = 0;
  let first: ReplayedStep | undefined;
  for (const step of replayTrajectory(catalog, trajectory)) {
    steps++;
    if (step.verdict !== "same") first ??= step;
  }
  if (!first) return { verdict: "same", steps };
  const { what, remedy } = findChange(catalog, trajectory.header);
  const { outcome, name } = first.replayed;
  const place = `call ${first.call + 1}, ${name}`;
  // a server that cannot be asked is no other result
  if (what === undefined && outcome.kind === "broken")
    return {
      verdict: first.verdict,
      steps,
      first,
      what: `${place}, cannot be made: ${(outcome.message ?? "").replace(`${name} broke: `, "").split("\n", 1)[0]}`,
      remedy: "correct that, and replay it again",
    };
  return {
    verdict: first.verdict,
    steps,
    first,
    what: what ?? `${place}, gives another ${first.differingFields.join(", ")}`,
    remedy,
  };
}

/** Which pin of a trajectory has changed: a fixture, the tools, or (`differs`) neither. */
interface PinnedChange {
  readonly verdict: Exclude<Verdict, "same">;
  readonly what?: string;
  readonly remedy: string;
}

/** Compares the pins of a header with the catalog as it is now. */
export function findChange(
  catalog: Catalog,
  { servers, catalog: hash }: Pick<Header, "servers" | "catalog">,
): PinnedChange {
  const changed = servers.filter(
    it => computeDigest(catalog.getFixture(it.name, it.fixture)) !== it.digest,
  );
  if (changed.length > 0) {
    const names = changed.map(it => `${it.fixture} of ${it.name}`).join(", ");
    return {
      verdict: "fixture changed",
      what: `the fixture ${names} has changed since`,
      remedy: "restore that fixture, or synthesize the tasks anew",
    };
  }
  if (catalog.hashTools(servers.map(it => it.name)) !== hash)
    return {
      verdict: "tool changed",
      what: `the tools of ${servers.map(it => it.name).join(", ")} have changed since`,
      remedy: "synthesize the tasks anew",
    };
  return {
    verdict: "differs",
    remedy:
      "synthesize it again if a later version of PROVE changed the rule; otherwise the record was edited, or a tool is not deterministic: report it with this file",
  };
}

const comparedFields = ["outcome", "value", "type", "error", "hint", "digest"] as const;

/** The keys of a call's line that differ. */
type LineField = (typeof comparedFields)[number];

/**
 * The call with the result that a session returns: the recorded event itself if its result is the
 * same. Another state alone is no other result, and a call that broke stays as it is, because it is
 * never scored.
 */
export function replaceResult(recorded: CallEvent, result: CallResult): CallEvent {
  const { message, name, arguments: args, outcome } = recorded;
  if (outcome.kind === "broken" || JSON.stringify(outcome) === JSON.stringify(result.outcome))
    return recorded;
  const replayed = createCallEvent(message, name, args, result);
  return hasOtherResult(findDifferences(recorded, replayed))
    ? createRecord({ recorded, replayed })
    : recorded;
}

const hasOtherResult = (fields: readonly LineField[]): boolean =>
  fields.some(it => it !== "digest");

function findDifferences(recorded: CallEvent, replayed: CallEvent): readonly LineField[] {
  // a broken call's message holds a stack trace, which is not part of the state
  const fields =
    recorded.outcome.kind === "broken" && replayed.outcome.kind === "broken"
      ? (["digest"] as const)
      : comparedFields;
  const [before, after] = [formatCallLine(recorded), formatCallLine(replayed)];
  return fields.filter(it => !isSameResult(before[it], after[it]));
}

interface Rerecording {
  /** The same attempt with the results of the calls as they are now. */
  readonly trajectory: Trajectory;
  /** The calls with another result; other states alone are no difference. */
  readonly differing: readonly ReplayedStep[];
}

/** Throws a `UserError` where a server or a fixture is missing. */
export function rerecord(catalog: Catalog, trajectory: Trajectory): Rerecording {
  const steps = [...replayTrajectory(catalog, trajectory)];
  const replayed = new Map(steps.map(it => [it.event, createRecord(it)]));
  const { header, events } = trajectory;
  const servers = header.servers.map(it => ({
    ...it,
    digest: computeDigest(catalog.getFixture(it.name, it.fixture)),
  }));
  return {
    trajectory: {
      header: { ...header, servers },
      events: events.map((it, i) => replayed.get(i) ?? it),
    },
    differing: steps.filter(it => hasOtherResult(it.differingFields)),
  };
}

/** The new event, with its changes only if the old one has them. */
function createRecord({
  recorded,
  replayed,
}: Pick<ReplayedStep, "recorded" | "replayed">): CallEvent {
  const { patches, ...event } = replayed;
  return recorded.patches && patches ? { ...event, patches } : event;
}
