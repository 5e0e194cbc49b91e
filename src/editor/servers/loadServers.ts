/**
 * The servers of the catalog, loaded one at a time: each builds its schemas when it is loaded, and
 * all of them in one go would hold the extension host up. A test holds the list against the
 * catalog.
 */
import { setImmediate } from "node:timers/promises";
import type { Server } from "../../environment/server.ts";

const modules: readonly (() => Promise<Server>)[] = [
  () => import("../../servers/banking/server.ts").then(it => it.banking),
  () => import("../../servers/trading/server.ts").then(it => it.trading),
  () => import("../../servers/payments/server.ts").then(it => it.payments),
  () => import("../../servers/calendar/server.ts").then(it => it.calendar),
  () => import("../../servers/email/server.ts").then(it => it.email),
  () => import("../../servers/filesystem/server.ts").then(it => it.filesystem),
  () => import("../../servers/shopping/server.ts").then(it => it.shopping),
  () => import("../../servers/marketplace/server.ts").then(it => it.marketplace),
  () => import("../../servers/retailChain/server.ts").then(it => it.retailChain),
  () => import("../../servers/travelBooking/server.ts").then(it => it.travelBooking),
  () => import("../../servers/maps/server.ts").then(it => it.maps),
  () => import("../../servers/socialMedia/server.ts").then(it => it.socialMedia),
  () => import("../../servers/teamChat/server.ts").then(it => it.teamChat),
  () => import("../../servers/iotDevices/server.ts").then(it => it.iotDevices),
  () => import("../../servers/vehicle/server.ts").then(it => it.vehicle),
  () => import("../../servers/crm/server.ts").then(it => it.crm),
  () => import("../../servers/issueTracker/server.ts").then(it => it.issueTracker),
  () => import("../../servers/budget/server.ts").then(it => it.budget),
  () => import("../../servers/foodDelivery/server.ts").then(it => it.foodDelivery),
  () => import("../../servers/videoMeeting/server.ts").then(it => it.videoMeeting),
];

/** All servers, in the catalog's order. */
export async function loadServers(): Promise<readonly Server[]> {
  const servers: Server[] = [];
  for (const load of modules) {
    servers.push(await load());
    await setImmediate();
  }
  return servers;
}
