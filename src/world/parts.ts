/** All servers' parts of a world, in the order in which they are made. Knows which there are, not what they hold. */
import type { Part } from "./part.ts";
import { handWrittenParts } from "./shipped.ts";
import { teamChatPart } from "./teamChat.ts";
import { tradingPart } from "./trading.ts";
import { paymentsPart } from "./payments.ts";
import { emailPart } from "./email.ts";
import { shoppingPart } from "./shopping.ts";
import { mapsPart } from "./maps.ts";
import { iotDevicesPart } from "./iotDevices.ts";
import { crmPart } from "./crm.ts";
import { issueTrackerPart } from "./issueTracker.ts";
import { travelBookingPart } from "./travelBooking.ts";
import { vehiclePart } from "./vehicle.ts";

export const parts: readonly Part[] = [
  ...handWrittenParts,
  tradingPart,
  paymentsPart,
  emailPart,
  shoppingPart,
  travelBookingPart,
  mapsPart,
  teamChatPart,
  iotDevicesPart,
  vehiclePart,
  crmPart,
  issueTrackerPart,
];
