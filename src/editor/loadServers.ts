/**
 * The servers of the catalog, loaded one at a time: each builds its schemas when it is loaded, and
 * all of them in one go would hold the extension host up. A test holds the list against the
 * catalog.
 */
import { setImmediate } from "node:timers/promises";
import type { Server } from "../environment/server.ts";

const modules: readonly (() => Promise<Server>)[] = [
  () => import("../servers/banking.ts").then(it => it.banking),
  () => import("../servers/trading/trading.ts").then(it => it.trading),
  () => import("../servers/payments/payments.ts").then(it => it.payments),
  () => import("../servers/calendar/calendar.ts").then(it => it.calendar),
  () => import("../servers/email/email.ts").then(it => it.email),
  () => import("../servers/filesystem/server.ts").then(it => it.filesystem),
  () => import("../servers/shopping/shopping.ts").then(it => it.shopping),
  () => import("../servers/marketplace/marketplace.ts").then(it => it.marketplace),
  () => import("../servers/retailChain/retailChain.ts").then(it => it.retailChain),
  () => import("../servers/travelBooking/travelBooking.ts").then(it => it.travelBooking),
  () => import("../servers/maps/maps.ts").then(it => it.maps),
  () => import("../servers/socialMedia/server.ts").then(it => it.socialMedia),
  () => import("../servers/teamChat/teamChat.ts").then(it => it.teamChat),
  () => import("../servers/iotDevices/server.ts").then(it => it.iotDevices),
  () => import("../servers/vehicle/vehicle.ts").then(it => it.vehicle),
  () => import("../servers/crm/crm.ts").then(it => it.crm),
  () => import("../servers/issueTracker/server.ts").then(it => it.issueTracker),
  () => import("../servers/budget/server.ts").then(it => it.budget),
  () => import("../servers/foodDelivery/foodDelivery.ts").then(it => it.foodDelivery),
  () => import("../servers/videoMeeting/videoMeeting.ts").then(it => it.videoMeeting),
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
