/**
 * All servers in their fixed order, by name: the module with the definition, and the module that
 * generates fixtures. Both are loaded when they are first needed.
 */
import { setImmediate } from "node:timers/promises";
import type { Server } from "../environment/server.ts";
import type { FixtureGenerator } from "./shared/generator.ts";

type Entry = readonly [
  loadServer: () => Promise<{ readonly server: Server }>,
  loadGenerator: () => Promise<{ readonly generator: FixtureGenerator }>,
];

const entries: Readonly<Record<string, Entry>> = {
  banking: [() => import("./banking/server.ts"), () => import("./banking/generate.ts")],
  trading: [() => import("./trading/server.ts"), () => import("./trading/generate.ts")],
  payments: [() => import("./payments/server.ts"), () => import("./payments/generate.ts")],
  calendar: [() => import("./calendar/server.ts"), () => import("./calendar/generate.ts")],
  email: [() => import("./email/server.ts"), () => import("./email/generate.ts")],
  filesystem: [() => import("./filesystem/server.ts"), () => import("./filesystem/generate.ts")],
  shopping: [() => import("./shopping/server.ts"), () => import("./shopping/generate.ts")],
  marketplace: [() => import("./marketplace/server.ts"), () => import("./marketplace/generate.ts")],
  retail_chain: [
    () => import("./retailChain/server.ts"),
    () => import("./retailChain/generate.ts"),
  ],
  travel_booking: [
    () => import("./travelBooking/server.ts"),
    () => import("./travelBooking/generate.ts"),
  ],
  maps: [() => import("./maps/server.ts"), () => import("./maps/generate.ts")],
  social_media: [
    () => import("./socialMedia/server.ts"),
    () => import("./socialMedia/generate.ts"),
  ],
  team_chat: [() => import("./teamChat/server.ts"), () => import("./teamChat/generate.ts")],
  iot_devices: [() => import("./iotDevices/server.ts"), () => import("./iotDevices/generate.ts")],
  vehicle: [() => import("./vehicle/server.ts"), () => import("./vehicle/generate.ts")],
  crm: [() => import("./crm/server.ts"), () => import("./crm/generate.ts")],
  issue_tracker: [
    () => import("./issueTracker/server.ts"),
    () => import("./issueTracker/generate.ts"),
  ],
  budget: [() => import("./budget/server.ts"), () => import("./budget/generate.ts")],
  food_delivery: [
    () => import("./foodDelivery/server.ts"),
    () => import("./foodDelivery/generate.ts"),
  ],
  video_meeting: [
    () => import("./videoMeeting/server.ts"),
    () => import("./videoMeeting/generate.ts"),
  ],
};

/** The names of all servers, in the catalog's order. */
export const serverNames: readonly string[] = Object.keys(entries);

/**
 * Loads all servers, in the catalog's order. It takes a turn of the event loop between two, so that
 * the extension host stays responsive.
 */
export async function loadServers(): Promise<readonly Server[]> {
  const servers: Server[] = [];
  for (const [loadServer] of Object.values(entries)) {
    servers.push((await loadServer()).server);
    await setImmediate();
  }
  return servers;
}

/** Loads the fixture generators of all servers, in the order in which they run. */
export async function loadGenerators(): Promise<readonly FixtureGenerator[]> {
  const modules = await Promise.all(Object.values(entries).map(([, load]) => load()));
  const generators = modules.map(it => it.generator);
  return [...generators.filter(it => it.runsFirst), ...generators.filter(it => !it.runsFirst)];
}
