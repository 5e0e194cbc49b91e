/** Tools for webhooks and the event log. */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { limit } from "./parameters.ts";
import { eventKinds, PaymentsState, logEvent, sortNewestFirst } from "./state.ts";

export const maxWebhooks = 6;

const tool = createToolFactory(PaymentsState);

export const webhookTools = {
  register_webhook: tool({
    effect: "write",
    summary: "Have events of some kinds sent to a web address from now on.",
    input: {
      url: z
        .string()
        .min(8)
        .max(200)
        .describe("Address that takes the events, https only")
        .meta({
          examples: [
            "https://books.example/hooks/invoices",
            "https://crm.example/in/payments",
            "https://chat.example/hooks/money",
            "https://ledger.example/v1/events",
            "https://reports.example/push",
            "https://alerts.example/refunds",
            "https://archive.example/invoices",
            "https://bank.example/match/incoming",
          ],
        }),
      events: z
        .array(z.enum(eventKinds))
        .min(1)
        .max(eventKinds.length)
        .describe("Kinds of events to send there")
        .meta({
          examples: [
            ["invoice.paid"],
            ["payment.received"],
            ["payment.refunded"],
            ["invoice.created"],
            ["invoice.voided"],
            ["invoice.paid", "invoice.voided"],
            ["payment.received", "payment.refunded"],
            ["invoice.created", "invoice.paid"],
          ],
        }),
    },
    returns: {
      url: label("webhook"),
      webhook_id: id("webhook"),
      events: z.array(z.string()),
      webhooks: z.int().describe("How many there are now"),
    },
    run(state, { url, events: wanted }, context) {
      if (!/^https:\/\/[a-z0-9][a-z0-9.-]*(:\d+)?(\/\S*)?$/i.test(url))
        refuse(
          "invalid_params",
          `${url} is not an https address`,
          "give an address that begins with https://",
        );
      const webhooks = Object.entries(state.webhooks);
      const same = webhooks.find(([, it]) => it.url.toLowerCase() === url.toLowerCase());
      if (same)
        refuse(
          "conflict",
          `${url} is already registered (${same[0]}) for ${same[1].events.join(", ")}`,
          "use another address",
        );
      if (webhooks.length >= maxWebhooks)
        refuse(
          "limit_exceeded",
          `there are ${maxWebhooks} webhooks already, and no more are allowed`,
        );
      const webhook_id = context.newId("whk");
      const events = eventKinds.filter(it => wanted.includes(it));
      state.webhooks[webhook_id] = { url, events, status: "active" };
      logEvent(state, context, "webhook.registered", url);
      return { url, webhook_id, events, webhooks: webhooks.length + 1 };
    },
  }),
  list_webhook_events: tool({
    effect: "read",
    summary:
      "List what happened to invoices and payments, newest first: each event and which webhooks took it.",
    input: {
      event: z.enum(eventKinds).optional().describe("Only events of this kind"),
      about: z
        .string()
        .min(1)
        .max(80)
        .optional()
        .describe("Only events whose subject contains this, such as invoice 46")
        .meta({
          examples: [
            "invoice 38",
            "invoice 39",
            "invoice 40",
            "invoice 41",
            "invoice 42",
            "invoice 45",
            "invoice 46",
            "invoice 37",
          ],
        }),
      webhook: label("webhook")
        .optional()
        .describe("Only events that went to webhooks whose address contains this"),
      failed: z.boolean().optional().describe("True for only those that some webhook did not take"),
      from_date: day().optional().describe("First day"),
      limit,
    },
    returns: {
      events: z.array(
        z.object({
          event: z.string(),
          event_id: id("event"),
          about: z.string(),
          at: minute(),
          deliveries: z.array(
            z.object({ url: label("webhook"), webhook_id: id("webhook"), result: z.string() }),
          ),
        }),
      ),
    },
    run({ events, webhooks }, { event, about, webhook, failed, from_date, limit = 10 }, { now }) {
      if (from_date && from_date > now.slice(0, 10))
        refuse("precondition_failed", `${from_date} is to come: today is ${now.slice(0, 10)}`);
      const matches = Object.entries(events).filter(
        ([, it]) =>
          (!event || it.kind === event) &&
          (!about || containsText(`${it.about} `, `${about} `)) &&
          (!from_date || it.at.slice(0, 10) >= from_date) &&
          (!webhook ||
            Object.keys(it.deliveries).some(hook => containsText(webhooks[hook]!.url, webhook))) &&
          (!failed || Object.values(it.deliveries).includes("failed")),
      );
      return {
        events: sortNewestFirst(matches, it => it.at)
          .slice(0, limit)
          .map(([event_id, it]) => ({
            event: it.kind,
            event_id,
            about: it.about,
            at: it.at,
            deliveries: Object.entries(it.deliveries).map(([webhook_id, result]) => ({
              url: webhooks[webhook_id]!.url,
              webhook_id,
              result,
            })),
          })),
      };
    },
  }),
};
