/** Tools for webhooks and the event log. */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { descending, equals, meets } from "../kit/table.ts";
import { eventKinds, events, logEvent, PaymentsState } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const maxWebhooks = 6;

const tool = createToolFactory(PaymentsState);

export const webhookTools = {
  register_webhook: tool({
    effect: "write",
    summary: "Have events of some kinds sent to a web address from now on.",
    input: {
      url: z.string().min(8).max(200).describe("Address that takes the events, https only").meta({
        examples: vocabulary.urls,
      }),
      events: z
        .array(z.enum(eventKinds))
        .min(1)
        .max(eventKinds.length)
        .describe("Kinds of events to send there")
        .meta({
          examples: vocabulary.eventLists,
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
      const kinds = eventKinds.filter(it => wanted.includes(it));
      state.webhooks[webhook_id] = { url, events: kinds, status: "active" };
      logEvent(state, context, "webhook.registered", url);
      return { url, webhook_id, events: kinds, webhooks: webhooks.length + 1 };
    },
  }),
  list_webhook_events: events.list({
    summary:
      "List what happened to invoices and payments, newest first: each event and which webhooks took it.",
    filters: {
      event: equals(z.enum(eventKinds), "Only events of this kind", it => it.kind),
      about: meets(
        z.string().min(1).max(80).optional().meta({ examples: vocabulary.subjects }),
        "Only events whose subject contains this, such as invoice 46",
        (it, about) => containsText(`${it.about} `, `${about} `),
      ),
      webhook: meets(
        label("webhook"),
        "Only events that went to webhooks whose address contains this",
        (it, address, { world }) =>
          Object.keys(it.deliveries).some(hook => containsText(world.webhooks[hook]!.url, address)),
      ),
      failed: meets(
        z.boolean(),
        "True for only those that some webhook did not take",
        (it, hasFailed) => !hasFailed || Object.values(it.deliveries).includes("failed"),
      ),
      from_date: meets(day(), "First day", (it, date) => it.at.slice(0, 10) >= date),
    },
    check({ from_date }, _, now) {
      if (from_date && from_date > now.slice(0, 10))
        refuse("precondition_failed", `${from_date} is to come: today is ${now.slice(0, 10)}`);
    },
    order: descending(it => it.at, { latestId: true }),
    limit: 10,
    row: {
      event: [z.string(), it => it.kind],
      event_id: events.idField,
      about: z.string(),
      at: minute(),
      deliveries: [
        z.array(z.object({ url: label("webhook"), webhook_id: id("webhook"), result: z.string() })),
        (it, { world }) =>
          Object.entries(it.deliveries).map(([webhook_id, result]) => {
            return { url: world.webhooks[webhook_id]!.url, webhook_id, result };
          }),
      ],
    },
  }),
};
