/** All servers, in their fixed order. Knows their definitions and nothing of who opens them. */
import type { Server } from "../environment/server.ts";
import { banking } from "./banking/server.ts";
import { trading } from "./trading/server.ts";
import { payments } from "./payments/server.ts";
import { calendar } from "./calendar/server.ts";
import { email } from "./email/server.ts";
import { filesystem } from "./filesystem/server.ts";
import { shopping } from "./shopping/server.ts";
import { marketplace } from "./marketplace/server.ts";
import { retailChain } from "./retailChain/server.ts";
import { travelBooking } from "./travelBooking/server.ts";
import { maps } from "./maps/server.ts";
import { socialMedia } from "./socialMedia/server.ts";
import { teamChat } from "./teamChat/server.ts";
import { iotDevices } from "./iotDevices/server.ts";
import { vehicle } from "./vehicle/server.ts";
import { crm } from "./crm/server.ts";
import { issueTracker } from "./issueTracker/server.ts";
import { budget } from "./budget/server.ts";
import { foodDelivery } from "./foodDelivery/server.ts";
import { videoMeeting } from "./videoMeeting/server.ts";

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
