/** Makes the calls of a trajectory again on the fixtures as they are now, and records the results. */
import type { Catalog } from "../environment/catalog.ts";
import { computeDigest } from "../environment/digest.ts";
import { replayTrajectory, type ReplayedStep } from "./replay.ts";
import type { CallEvent, Trajectory } from "./trajectory.ts";

export interface Rerecording {
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
    differing: steps.filter(it => it.differingFields.some(field => field !== "digest")),
  };
}

/** The new event, with its changes only if the old one has them. */
function createRecord({ recorded, replayed }: ReplayedStep): CallEvent {
  const { patches, ...event } = replayed;
  return recorded.patches && patches ? { ...event, patches } : event;
}
