/**
 * All servers' parts of a world, in the order in which they are made. Knows which there are, not
 * what they hold.
 */
import type { Part } from "./shared/generator.ts";
import { handWrittenParts } from "./shared/handWritten.ts";
import { tradingPart } from "./trading/generate.ts";
import { paymentsPart } from "./payments/generate.ts";
import { emailPart } from "./email/generate.ts";
import { shoppingPart } from "./shopping/generate.ts";
import { marketplacePart } from "./marketplace/generate.ts";
import { retailChainPart } from "./retailChain/generate.ts";
import { travelBookingPart } from "./travelBooking/generate.ts";
import { mapsPart } from "./maps/generate.ts";
import { socialMediaPart } from "./socialMedia/generate.ts";
import { teamChatPart } from "./teamChat/generate.ts";
import { iotDevicesPart } from "./iotDevices/generate.ts";
import { vehiclePart } from "./vehicle/generate.ts";
import { crmPart } from "./crm/generate.ts";
import { issueTrackerPart } from "./issueTracker/generate.ts";
import { budgetPart } from "./budget/generate.ts";
import { foodDeliveryPart } from "./foodDelivery/generate.ts";
import { videoMeetingPart } from "./videoMeeting/generate.ts";

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
