/** The CRM of a studio as one of its people sees it: 16 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { activity } from "./activity.ts";
import { contacts } from "./contacts.ts";
import { deals } from "./deals.ts";
import { leads } from "./leads.ts";
import { Crm } from "./state.ts";

export const server = defineServer({
  name: "crm",
  category: "Knowledge/CRM",
  summary: "leads, contacts and their firms, deals with stages, notes, tasks",
  schema: Crm,
  tools: { ...leads, ...contacts, ...deals, ...activity },
});

export type { Crm } from "./state.ts";
