/** All servers in their fixed order, by name. A server's module is loaded when it is first needed. */
import { setImmediate } from "node:timers/promises";
import type { Server } from "../environment/server.ts";

type Load = () => Promise<{ readonly server: Server }>;

const entries: Readonly<Record<string, Load>> = {
  banking: () => import("./banking/server.ts"),
  trading: () => import("./trading/server.ts"),
  payments: () => import("./payments/server.ts"),
  calendar: () => import("./calendar/server.ts"),
  email: () => import("./email/server.ts"),
  filesystem: () => import("./filesystem/server.ts"),
  shopping: () => import("./shopping/server.ts"),
  marketplace: () => import("./marketplace/server.ts"),
  retail_chain: () => import("./retailChain/server.ts"),
  travel_booking: () => import("./travelBooking/server.ts"),
  maps: () => import("./maps/server.ts"),
  social_media: () => import("./socialMedia/server.ts"),
  team_chat: () => import("./teamChat/server.ts"),
  iot_devices: () => import("./iotDevices/server.ts"),
  vehicle: () => import("./vehicle/server.ts"),
  crm: () => import("./crm/server.ts"),
  issue_tracker: () => import("./issueTracker/server.ts"),
  budget: () => import("./budget/server.ts"),
  food_delivery: () => import("./foodDelivery/server.ts"),
  video_meeting: () => import("./videoMeeting/server.ts"),
};

/** The names of all servers, in the catalog's order. */
export const serverNames: readonly string[] = Object.keys(entries);

/**
 * Loads all servers, in the catalog's order. It takes a turn of the event loop between two, so that
 * the extension host stays responsive.
 */
export async function loadServers(): Promise<readonly Server[]> {
  const servers: Server[] = [];
  for (const load of Object.values(entries)) {
    servers.push((await load()).server);
    await setImmediate();
  }
  return servers;
}
