/** Rules of the servers that keep accounts, invoices, budgets and shares. */
import { defineRules, type CreateRules, isEqual, isSame, listChanges, sum } from "./rule.ts";

interface Account {
  readonly balance: number;
  readonly available: number;
  readonly closing: number | undefined;
  readonly cards: readonly {
    readonly card_id: string;
    readonly last_digits: string;
    readonly status: string;
  }[];
}

export const banking: CreateRules = ({ read, tryRead }) => {
  const see = () => {
    const { accounts } = read<{ accounts: { account_id: string }[] }>("list_accounts");
    const { payees } = read<{ payees: { payee_id: string; due?: number }[] }>("list_payees");
    const { scheduled } = read<{ scheduled: { scheduled_id: string; amount: number }[] }>(
      "list_scheduled_transfers",
    );
    return {
      accounts: new Map(
        accounts.map(({ account_id }): [string, Account] => {
          const { balance, available } = read<Account>("get_balance", { account_id });
          const { cards } = read<Account>("get_account", { account_id });
          const month = tryRead<Account>("get_statement", { account_id, month: "2026-03" });
          return [account_id, { balance, available, cards, closing: month?.closing }];
        }),
      ),
      dues: new Map(payees.map(it => [it.payee_id, it.due])),
      scheduled: new Map(scheduled.map(it => [it.scheduled_id, it.amount])),
    };
  };
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const moved = new Map<string, number>();
    if (tool === "transfer") {
      moved.set(args["from_account"], -args["amount"]);
      moved.set(args["to_account"], args["amount"]);
    } else if (tool === "deposit") moved.set(args["account_id"], args["amount"]);
    else if (tool === "pay_bill") {
      moved.set(args["account_id"], -value["paid"]);
      if (!isSame(before.dues.get(args["payee_id"]), value["paid"])) yield "not what was due";
      if (after.dues.get(args["payee_id"]) !== undefined) yield "the bill is still open";
    } else if (tool === "withdraw") {
      const owner = [...before.accounts].find(([, it]) =>
        it.cards.some(card => card.card_id === args["card_id"] && card.status === "active"),
      );
      if (!owner) yield "the card was not active";
      else moved.set(owner[0], -args["amount"]);
    } else if (tool === "cancel_scheduled_transfer") {
      if (!before.scheduled.has(args["scheduled_id"])) yield "no transfer was planned";
      if (after.scheduled.has(args["scheduled_id"])) yield "the transfer is still planned";
    } else if (tool === "schedule_transfer") {
      if (after.scheduled.size !== before.scheduled.size + 1) yield "not planned once";
    }
    for (const [id, is] of after.accounts) {
      const was = before.accounts.get(id)!;
      const change = moved.get(id) ?? 0;
      if (!isSame(is.balance, was.balance + change))
        yield `${id} went from ${was.balance} to ${is.balance}`;
      if (change < 0 && -change > was.available + 0.001)
        yield `${id} had only ${was.available} to spend`;
      if (is.closing !== undefined && !isSame(is.closing, is.balance))
        yield `${id} has ${is.balance} and closes with ${is.closing}`;
      for (const card of is.cards) {
        const cardBefore = was.cards.find(it => it.card_id === card.card_id);
        if (!cardBefore || cardBefore.status === card.status) continue;
        if (!tool.includes("freeze_card") || args["card_id"] !== card.card_id)
          yield `${card.card_id} became ${card.status}`;
        if (tool === "unfreeze_card" && args["last_digits"] !== card.last_digits)
          yield `${card.card_id} does not end in these digits`;
      }
    }
  });
};

interface Order {
  readonly symbol: string;
  readonly side: "buy" | "sell";
  readonly shares: number;
  readonly price?: number;
  readonly status: string;
  readonly filled: number;
  readonly fees: number;
  readonly fills?: readonly { readonly shares: number; readonly price: number }[];
}

export const trading: CreateRules = ({ read }) => {
  const { symbols } = read<{ symbols: { symbol: string }[] }>("search_symbols", { limit: 50 });
  const isOpen = ({ status }: Order) => status === "open" || status === "partly filled";
  const see = () => {
    const { positions } = read<{ positions: { symbol: string; shares: number; free: number }[] }>(
      "list_positions",
      { limit: 50 },
    );
    const orders = symbols.flatMap(
      ({ symbol }) =>
        read<{ orders: { order_id: string }[] }>("list_orders", { symbol, limit: 50 }).orders,
    );
    return {
      money: read<{ cash: number; reserved: number; free: number; open_buy_orders: number }>(
        "get_cash_balance",
      ),
      positions: new Map(positions.map(it => [it.symbol, it])),
      orders: new Map(
        orders.map(({ order_id }) => [order_id, read<Order>("get_order", { order_id })]),
      ),
    };
  };
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const { cash, reserved, free, open_buy_orders } = after.money;
    const orders = [...after.orders.values()];
    if (free < 0 || reserved < 0 || !isSame(free + reserved, cash))
      yield `${cash} in cash, ${reserved} of it reserved and ${free} free`;
    if (open_buy_orders !== orders.filter(it => isOpen(it) && it.side === "buy").length)
      yield `${open_buy_orders} open buy orders`;
    let paid = 0;
    const bought = new Map<string, number>();
    for (const [id, was, is] of listChanges(before.orders, after.orders)) {
      if (!is) {
        yield `${id} is gone`;
        continue;
      }
      if (was && !isOpen(was)) yield `${id} was ${was.status} and changed`;
      const sign = is.side === "buy" ? 1 : -1;
      const fills = (is.fills ?? []).slice(was?.fills?.length ?? 0);
      for (const { shares, price } of fills) {
        paid += sign * shares * price;
        if (is.price !== undefined && sign * price > sign * is.price + 1e-9)
          yield `${id} was filled at ${price}`;
      }
      paid += is.fees - (was?.fees ?? 0);
      const traded = is.filled - (was?.filled ?? 0);
      if (traded !== sum(fills.map(it => it.shares))) yield `${id} has other fills`;
      if (is.filled > is.shares) yield `${id} has ${is.filled} of ${is.shares} shares`;
      bought.set(is.symbol, (bought.get(is.symbol) ?? 0) + sign * traded);
    }
    if (!isSame(before.money.cash - paid, cash))
      yield `cash went from ${before.money.cash} to ${cash}, and ${sum([paid])} was paid`;
    for (const { symbol } of symbols) {
      const [was, is] = [before.positions.get(symbol), after.positions.get(symbol)];
      if ((is?.shares ?? 0) !== (was?.shares ?? 0) + (bought.get(symbol) ?? 0))
        yield `${symbol} went from ${was?.shares} to ${is?.shares} shares`;
      const offered = orders
        .filter(it => isOpen(it) && it.side === "sell" && it.symbol === symbol)
        .map(it => it.shares - it.filled);
      if (is && (is.free < 0 || is.free !== is.shares - sum(offered)))
        yield `${is.free} of ${is.shares} shares of ${symbol} are free`;
    }
    if (tool === "place_order") {
      const { lot, tick } = read<{ lot: number; tick: number }>("get_quote", {
        symbol: args["symbol"],
      });
      const ticks = (args["price"] ?? 0) / tick;
      if (args["shares"] % lot !== 0 || Math.abs(ticks - Math.round(ticks)) > 1e-6)
        yield `not in lots of ${lot} and ticks of ${tick}`;
    }
    const order = after.orders.get(value["order_id"]);
    if (tool === "cancel_order" && (order?.status !== "cancelled" || value["cancelled"] <= 0))
      yield "it is not cancelled";
    if (tool === "set_price_alert" && !isEqual(before.orders, after.orders)) yield "it traded";
  });
};

interface Invoice {
  readonly number: string;
  readonly status: string;
  readonly left?: number;
  readonly total: number;
}
interface Payment {
  readonly reference: string;
  readonly amount: number;
  readonly refunded?: number;
}

export const payments: CreateRules = ({ read, askRefusal }) => {
  const { invoices } = read<{ invoices: { invoice_id: string }[] }>("list_invoices", { limit: 50 });
  const customers = new Map(
    invoices.map(({ invoice_id }) => {
      const it = read<{ customer: string; customer_id: string }>("get_invoice", { invoice_id });
      return [it.customer_id, it.customer];
    }),
  );
  // no tool shows a customer's credit, but the refusal of a far too large invoice does
  const credits = new Map(
    [...customers.keys()].map(customer_id => {
      const lines = Array.from({ length: 12 }, () => ({
        text: "Everything",
        quantity: 999,
        unit_price: 100_000,
      }));
      const said = askRefusal("create_invoice", { customer_id, lines });
      return [customer_id, Number(/may owe (\d+(\.\d+)?)/.exec(said)?.[1])];
    }),
  );
  const see = () => ({
    invoices: new Map(
      [...customers].flatMap(([customer_id, customer]) => {
        const list = read<{ invoices: (Invoice & { invoice_id: string })[] }>("list_invoices", {
          customer,
          limit: 50,
        });
        return list.invoices.map(it => [it.invoice_id, { ...it, customer_id }] as const);
      }),
    ),
    payments: new Map(
      [...customers.values()].flatMap(customer => {
        const args = { customer, limit: 50 };
        return read<{ payments: (Payment & { payment_id: string })[] }>(
          "list_payments",
          args,
        ).payments.map(it => [it.payment_id, it] as const);
      }),
    ),
    owed: new Map(
      [...customers].map(([id, customer]) => {
        const list = read<{ customers: { customer_id: string; owes: number }[] }>("list_invoices", {
          customer,
        });
        return [id, list.customers.find(it => it.customer_id === id)!.owes];
      }),
    ),
  });
  return defineRules(see, function* (before, after, { tool, args, value }) {
    for (const [id] of customers) {
      const own = [...after.invoices.values()].filter(it => it.customer_id === id);
      const sent = own.filter(it => it.status === "open" || it.status === "overdue");
      const owes = sum(sent.map(it => it.left ?? 0));
      if (!isSame(owes, after.owed.get(id))) yield `${id} owes ${after.owed.get(id)}, not ${owes}`;
      const all = sum(own.map(it => it.left ?? 0));
      const was = sum(
        [...before.invoices.values()].filter(it => it.customer_id === id).map(it => it.left ?? 0),
      );
      // credits of archived customers are not known
      if (all > was && all > credits.get(id)!)
        yield `${id} owes ${owes} and gets drafts, ${all} in all, of at most ${credits.get(id)}`;
    }
    for (const [id, was, is] of listChanges(before.invoices, after.invoices)) {
      if (!is) yield `${id} is gone`;
      else if (!was) {
        if (tool !== "create_invoice") yield `${id} is new`;
        if (is.left !== is.total) yield `${id} over ${is.total} has ${is.left} left`;
      } else if (tool === "pay_invoice" && id === args["invoice_id"]) {
        if (was.status === "draft" || was.left === undefined) yield "nothing was to be paid";
        if (value["paid"] > was.left! || !isSame((is.left ?? 0) + value["paid"], was.left))
          yield `${id} had ${was.left} left, and has ${is.left}`;
        if ((is.left === undefined) !== (is.status === "paid")) yield `${id} is ${is.status}`;
      } else if (tool === "void_invoice" && id === args["invoice_id"]) {
        if (is.status !== "void" || is.left !== undefined) yield `${id} is ${is.status}`;
      } else if (tool === "refund_payment") {
        const { invoice_id } = read<{ invoice_id: string }>("get_payment", {
          payment_id: args["payment_id"],
        });
        if (id !== invoice_id || !isSame(is.left, was.left! + value["refunded"]))
          yield `${id} had ${was.left} left, and has ${is.left}`;
      } else yield `${id} changed`;
    }
    for (const [id, was, is] of listChanges(before.payments, after.payments)) {
      if (!is) yield `${id} is gone`;
      else if (!was ? tool !== "pay_invoice" : tool !== "refund_payment") yield `${id} changed`;
      else if ((is.refunded ?? 0) > is.amount) yield `${id} gave back ${is.refunded}`;
      else if (was && !isSame(is.refunded, (was.refunded ?? 0) + value["refunded"]))
        yield `${id} gave back ${is.refunded}`;
    }
    if (tool === "refund_payment") {
      const { refundable_until, refunds = [] } = read<{
        refundable_until: string;
        refunds?: { at: string }[];
      }>("get_payment", { payment_id: args["payment_id"] });
      if (refunds.at(-1)!.at.slice(0, 10) > refundable_until) yield "its time was over";
    }
    const invoiceId = args["invoice_id"] ?? value["invoice_id"];
    if (invoiceId !== undefined) {
      const { total, lines, left, status, payments } = read<{
        total: number;
        left: number;
        status: string;
        lines: { amount: number }[];
        payments: { payment_id: string; amount: number }[];
      }>("get_invoice", { invoice_id: invoiceId });
      if (!isSame(total, sum(lines.map(it => it.amount)))) yield `its lines are not ${total}`;
      const received = payments.map(
        it => it.amount - (after.payments.get(it.payment_id)?.refunded ?? 0),
      );
      const isDue = status !== "paid" && status !== "void";
      if (isDue && !isSame(left, total - sum(received))) yield `${left} of ${total} is left`;
      if (status === "void" && sum(received) !== 0) yield `it is void and kept ${sum(received)}`;
    }
    for (const [what, list] of [
      ["number", [...after.invoices.values()].map(it => it.number)],
      ["reference", [...after.payments.values()].map(it => it.reference)],
    ] as const)
      if (new Set(list).size < list.length) yield `a ${what} is there twice`;
  });
};

interface Month {
  readonly month: string;
  readonly status: string;
  readonly income: number;
  readonly spent: number;
  readonly reserved: number;
  readonly saved: number;
  readonly free: number;
}
interface Category {
  readonly category_id: string;
  readonly limit?: number;
  readonly spent: number;
}

export const budget: CreateRules = ({ read, tryRead }) => {
  const months = Array.from({ length: 12 }, (_, i) => `2026-${String(i + 1).padStart(2, "0")}`);
  const see = () => {
    const seen = new Map<string, Month & { readonly by: ReadonlyMap<string, Category> }>();
    for (const month of months) {
      const summary = tryRead<Month>("get_monthly_summary", { month });
      if (!summary) continue;
      const categories = [false, true].flatMap(
        archived =>
          read<{ categories: Category[] }>("list_categories", { month, archived }).categories,
      );
      seen.set(month, { ...summary, by: new Map(categories.map(it => [it.category_id, it])) });
    }
    const { goals } = read<{
      goals: { goal_id: string; target: number; saved: number; missing: number }[];
    }>("list_goals", { limit: 50 });
    return { months: seen, goals: new Map(goals.map(it => [it.goal_id, it])) };
  };
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const change = { spent: 0, saved: 0 };
    for (const [month, is] of after.months) {
      const was = before.months.get(month);
      if (!isSame(is.free, is.income - is.spent - is.reserved - is.saved))
        yield `${month} has ${is.free} free`;
      if (!isSame(is.spent, sum([...is.by.values()].map(it => it.spent))))
        yield `${month} has ${is.spent} spent in other categories`;
      if (!was) continue;
      change.spent += is.spent - was.spent;
      change.saved += is.saved - was.saved;
      // a category that is opened now is there in closed months too, without a limit
      const kept = [...is.by].filter(([id, it]) => was.by.has(id) || it.limit !== undefined);
      if (was.status === "closed" && !isEqual([was, [...was.by]], [is, kept]))
        yield `${month} is closed and changed`;
      if (/limit|create_category|goal/.test(tool) && is.free < 0 && is.free < was.free)
        yield `the income of ${month} does not allow it: ${is.free} is free`;
      for (const [category_id, { limit, spent }] of is.by) {
        const spentBefore = was.by.get(category_id)?.spent ?? 0;
        if (limit === undefined || spent <= limit || spent <= spentBefore) continue;
        if (read<{ fixed: boolean }>("get_category_summary", { category_id, month }).fixed)
          yield `${category_id} is fixed and went from ${spentBefore} to ${spent} of ${limit}`;
      }
    }
    if (tool === "add_expense" && !isSame(change.spent, args["amount"])) yield "spent otherwise";
    if (tool === "delete_expense" && !isSame(change.spent, -value["amount"]))
      yield "spent otherwise";
    if (!tool.endsWith("_expense") && !isSame(change.spent, 0)) yield "something was spent";
    const saved = tool === "contribute_to_goal" ? args["amount"] : 0;
    if (!isSame(change.saved, saved)) yield `${change.saved} was saved`;
    for (const [id, was, is] of listChanges(before.goals, after.goals)) {
      if (!is || !isSame(is.saved + is.missing, is.target) || is.missing < 0)
        yield `${id} has ${is?.saved} and misses ${is?.missing}`;
      else if (was && (id !== args["goal_id"] || !isSame(is.saved, was.saved + saved)))
        yield `${id} went from ${was.saved} to ${is.saved}`;
    }
  });
};
