/** All servers, in their fixed order. Knows their definitions and nothing of who opens them. */
import type { Server } from "../environment/server.ts";
import { banking } from "./banking.ts";
import { trading } from "./trading/trading.ts";
import { payments } from "./payments/payments.ts";
import { calendar } from "./calendar/calendar.ts";
import { email } from "./email/email.ts";
import { filesystem } from "./filesystem/server.ts";
import { shopping } from "./shopping/shopping.ts";
import { marketplace } from "./marketplace/marketplace.ts";
import { retailChain } from "./retailChain/retailChain.ts";
import { travelBooking } from "./travelBooking/travelBooking.ts";
import { maps } from "./maps/maps.ts";
import { socialMedia } from "./socialMedia/server.ts";
import { teamChat } from "./teamChat/teamChat.ts";
import { iotDevices } from "./iotDevices/server.ts";
import { vehicle } from "./vehicle/vehicle.ts";
import { crm } from "./crm/crm.ts";
import { issueTracker } from "./issueTracker/server.ts";
import { budget } from "./budget/server.ts";
import { foodDelivery } from "./foodDelivery/foodDelivery.ts";
import { videoMeeting } from "./videoMeeting/videoMeeting.ts";

export const servers: readonly Server[] = [
  banking,
  trading,
  payments,
  calendar,
  email,
  filesystem,
  shopping,
  marketplace,
  retailChain,
  travelBooking,
  maps,
  socialMedia,
  teamChat,
  iotDevices,
  vehicle,
  crm,
  issueTracker,
  budget,
  foodDelivery,
  videoMeeting,
];
