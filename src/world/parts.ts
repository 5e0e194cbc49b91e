/**
 * All servers' parts of a world, in the order in which they are made. Knows which there are, not
 * what they hold.
 */
import type { Part } from "./part.ts";
import { handWrittenParts } from "./shipped.ts";
import { tradingPart } from "./trading.ts";
import { paymentsPart } from "./payments.ts";
import { emailPart } from "./email.ts";
import { shoppingPart } from "./shopping.ts";
import { marketplacePart } from "./marketplace.ts";
import { retailChainPart } from "./retailChain.ts";
import { travelBookingPart } from "./travelBooking.ts";
import { mapsPart } from "./maps.ts";
import { socialMediaPart } from "./socialMedia.ts";
import { teamChatPart } from "./teamChat.ts";
import { iotDevicesPart } from "./iotDevices.ts";
import { vehiclePart } from "./vehicle.ts";
import { crmPart } from "./crm.ts";
import { issueTrackerPart } from "./issueTracker.ts";
import { budgetPart } from "./budget.ts";
import { foodDeliveryPart } from "./foodDelivery.ts";
import { videoMeetingPart } from "./videoMeeting.ts";

export const parts: readonly Part[] = [
  ...handWrittenParts,
  tradingPart,
  paymentsPart,
  emailPart,
  shoppingPart,
  marketplacePart,
  retailChainPart,
  travelBookingPart,
  mapsPart,
  socialMediaPart,
  teamChatPart,
  iotDevicesPart,
  vehiclePart,
  crmPart,
  issueTrackerPart,
  budgetPart,
  foodDeliveryPart,
  videoMeetingPart,
];
