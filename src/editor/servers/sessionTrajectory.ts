/** Creates trajectories of live sessions, so that they can be stepped through and scored. */
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { computeDigest } from "../../environment/digest.ts";
import { canonicalJson } from "../../environment/json.ts";
import {
  createCallEvent,
  noTask,
  trajectoryFormat,
  type Event,
  type Header,
  type Trajectory,
} from "../../trajectory/trajectory.ts";
import type { TableSession } from "../../service/tableSession.ts";
import { UserError } from "../../userError.ts";
import type { AttemptPosition, MadeCall } from "./storedSessions.ts";

/** A session with the calls that lead from its fixture to its state, if they are known. */
export interface SessionRecord {
  readonly number: number;
  readonly session: TableSession;
  readonly history: readonly MadeCall[] | undefined;
  readonly attempt?: AttemptPosition;
}

/**
 * Creates the trajectory of a session. It begins with the events of the attempt that the session
 * was forked from; after a reset, with the attempt's first request. Throws a `UserError` if the
 * session has no calls, or if they do not lead from its fixtures to its state.
 */
export function createSessionTrajectory(catalog: Catalog, live: SessionRecord): Trajectory {
  const { session, number, history, attempt } = live;
  const cause = `session ${number} cannot be saved, because`;
  if (!history)
    throw new UserError(
      `${cause} its calls do not lead from its fixture to its state, or are too many to keep`,
      "reset it and make the calls again",
    );
  if (history.length === 0)
    throw new UserError(`${cause} it has no calls`, "call a tool in it first");
  const events = [...listFirstEvents(attempt, history)];
  const { servers, seed, menu = [...session.tools.keys()] } = session.origin;
  const replay = openSessionByName(catalog, { servers, seed, menu });
  const last = events.findLast(it => it.kind === "assistant" || it.kind === "call");
  const done = events.filter(it => it.kind === "call").length;
  let message = last === undefined ? 0 : last.message + 1;
  for (const [i, { name, arguments: args }] of history.entries()) {
    const result = replay.call(name, args);
    if (i < done) continue;
    events.push({ kind: "assistant", message, text: "" });
    events.push(createCallEvent(message++, name, args, result));
  }
  if (replay.digest !== session.digest)
    throw new UserError(
      `${cause} its fixture or tools have changed since it was opened`,
      "reset it and make the calls again",
    );
  // without a task, nothing says that the calls are complete
  if (attempt) events.push({ kind: "ended", by: "policy" });
  const task = attempt?.header.task ?? noTask;
  const header: Header = {
    kind: "header",
    format: trajectoryFormat,
    task,
    menu: [...menu],
    ...attempt?.header,
    id: `${task}/${session.owner}-${number}`,
    servers: servers.map(it => ({
      name: it.name,
      fixture: it.fixture,
      digest: computeDigest(catalog.getFixture(it.name, it.fixture)),
    })),
    catalog: catalog.hashTools(servers.map(it => it.name)),
    seed,
    policy: session.owner,
  };
  return { header, events };
}

/** The events of the attempt whose calls the session has made, too. */
function listFirstEvents(
  attempt: AttemptPosition | undefined,
  history: readonly MadeCall[],
): readonly Event[] {
  const events = attempt?.events.filter(it => it.kind !== "ended") ?? [];
  const calls = events.filter(it => it.kind === "call");
  const isSame = calls.every(
    (it, i) =>
      it.name === history[i]?.name &&
      canonicalJson(it.arguments) === canonicalJson(history[i].arguments),
  );
  if (isSame) return events;
  const first = events.findIndex(it => it.kind !== "user");
  return events.slice(0, first);
}
