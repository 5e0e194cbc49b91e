/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { day, id, label, money, spokenId, rowLimit } from "../../environment/fieldSchemas.ts";

export const leadId = id("lead").describe("Lead id, as crm_list_leads gives it");
export const contactId = id("contact").describe("Contact id, as crm_list_contacts gives it");
export const dealId = id("deal").describe("Deal id, as crm_list_deals gives it");
/** Colleagues are identified by their names, not by ids. */
export const person = () => spokenId("person");
export const owner = person().optional();

export const limit = rowLimit(7);
export const email = z.email().max(80);
export const phone = z
  .string()
  .regex(/^\+?[0-9][0-9 ]{5,18}$/)
  .meta({
    examples: [
      "+34 600 01 77 01",
      "+34 600 01 77 12",
      "+34 600 01 77 23",
      "+34 600 01 77 34",
      "+34 600 01 77 45",
      "+34 600 01 77 56",
      "+34 600 01 77 67",
      "+34 600 01 77 78",
    ],
  });
export const personName = z
  .string()
  .min(2)
  .max(60)
  .regex(/\S/)
  .meta({
    examples: [
      "Lena Fischer",
      "Pablo Serra",
      "Mira Stein",
      "Ivo Zanetti",
      "Aoife Burke",
      "Luc Fabre",
      "Greta Olsen",
      "Samir Nasser",
      "Judit Balog",
      "Tiago Neves",
      "Elsa Bergman",
      "Yusuf Demir",
      "Carla Pons",
      "Milan Urban",
      "Odette Perrin",
      "Stefan Maier",
    ],
  });
export const firmName = z
  .string()
  .min(2)
  .max(60)
  .regex(/\S/)
  .meta({
    examples: [
      "Seaglass Ceramics",
      "Orbit Bikes",
      "Mistral Sails",
      "Quarry Coffee",
      "Lantana Gardens",
      "Polar Ice Cream",
      "Cobalt Print",
      "Juniper Toys",
      "Harvest Table",
      "Violet Radio",
    ],
  });
export const emails = [
  "hello@seaglass.example",
  "office@orbitbikes.example",
  "studio@mistral.example",
  "team@quarrycoffee.example",
  "post@lantana.example",
  "info@polarice.example",
  "hello@cobaltprint.example",
  "desk@junipertoys.example",
  "hello@harvesttable.example",
  "press@violetradio.example",
  "contact@windrose.example",
  "office@amberlane.example",
];
export const titles = [
  "Website relaunch",
  "Annual report",
  "Brand refresh",
  "Trade fair stand",
  "Product photos",
  "Packaging design",
  "Newsletter templates",
  "Image film",
  "Accessibility audit",
  "Booking page",
  "Signage",
  "Recruiting campaign",
];
export const taskTitles = [
  "Call about the budget",
  "Send the offer",
  "Send references",
  "Book a meeting",
  "Ask for the logo files",
  "Follow up on the proposal",
  "Prepare the contract",
  "Check the delivery dates",
  "Thank for the visit",
  "Share the mood board",
];
export const amount = money().meta({
  examples: [900, 1200, 1500, 1800, 2400, 3200, 4500, 5000, 6800, 7500, 9000, 12000, 15000],
});

export const dealRow = { title: label("deal"), deal_id: id("deal"), stage: z.string() };
export const taskRow = { task: label("task"), task_id: id("task"), due: day() };
export const maxNotes = 3;
