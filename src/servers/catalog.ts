/**
 * All servers in their fixed order, by name. A server's module is loaded when it is first asked
 * for, because building its schemas takes time.
 */
import { setImmediate } from "node:timers/promises";
import type { Server } from "../environment/server.ts";

const modules: Readonly<Record<string, () => Promise<Server>>> = {
  banking: () => import("./banking/server.ts").then(it => it.banking),
  trading: () => import("./trading/server.ts").then(it => it.trading),
  payments: () => import("./payments/server.ts").then(it => it.payments),
  calendar: () => import("./calendar/server.ts").then(it => it.calendar),
  email: () => import("./email/server.ts").then(it => it.email),
  filesystem: () => import("./filesystem/server.ts").then(it => it.filesystem),
  shopping: () => import("./shopping/server.ts").then(it => it.shopping),
  marketplace: () => import("./marketplace/server.ts").then(it => it.marketplace),
  retail_chain: () => import("./retailChain/server.ts").then(it => it.retailChain),
  travel_booking: () => import("./travelBooking/server.ts").then(it => it.travelBooking),
  maps: () => import("./maps/server.ts").then(it => it.maps),
  social_media: () => import("./socialMedia/server.ts").then(it => it.socialMedia),
  team_chat: () => import("./teamChat/server.ts").then(it => it.teamChat),
  iot_devices: () => import("./iotDevices/server.ts").then(it => it.iotDevices),
  vehicle: () => import("./vehicle/server.ts").then(it => it.vehicle),
  crm: () => import("./crm/server.ts").then(it => it.crm),
  issue_tracker: () => import("./issueTracker/server.ts").then(it => it.issueTracker),
  budget: () => import("./budget/server.ts").then(it => it.budget),
  food_delivery: () => import("./foodDelivery/server.ts").then(it => it.foodDelivery),
  video_meeting: () => import("./videoMeeting/server.ts").then(it => it.videoMeeting),
};

/** The names of all servers, in the catalog's order. */
export const serverNames: readonly string[] = Object.keys(modules);

/**
 * All servers, in the catalog's order. They are loaded one at a time with a turn of the event loop
 * in between, so that the extension host stays responsive.
 */
export async function loadServers(): Promise<readonly Server[]> {
  const servers: Server[] = [];
  for (const load of Object.values(modules)) {
    servers.push(await load());
    await setImmediate();
  }
  return servers;
}
