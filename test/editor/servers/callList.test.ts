/** The text with the calls of a session. */
import { expect, test } from "vitest";
import { formatCallList, type ListedCall } from "../../../src/editor/servers/callList.ts";
import { openSessionByName } from "../../../src/environment/catalog.ts";
import type { JsonObject } from "../../../src/environment/json.ts";
import { catalog } from "../../contracts/transports.ts";

const session = openSessionByName(catalog, {
  servers: [{ name: "banking", fixture: "small" }],
  seed: 1,
});

function makeCall(name: string, args: JsonObject): ListedCall {
  const before = session.state;
  return { name, arguments: args, ...session.call(name, args), before };
}

test("calls are listed with their results and what they changed, the newest first", () => {
  const transfer = { from_account: "acc_101", to_account: "acc_108", amount: 12.5 };
  const calls = [
    makeCall("banking_get_balance", { account_id: "acc_101" }),
    makeCall("banking_transfer", transfer),
    makeCall("banking_transfer", { ...transfer, amount: 1e6 }),
  ];
  const { text, lines } = formatCallList("Session 1 on small", calls);
  const rows = text.split("\n");
  expect(rows[0]).toBe("Session 1 on small · 3 calls, newest first");
  expect(calls.map(it => rows[lines.get(it)!])).toEqual([
    `✓ banking_get_balance(account_id: "acc_101")`,
    `✓ banking_transfer(from_account: "acc_101", to_account: "acc_108", amount: 12.5)`,
    `✗ banking_transfer(from_account: "acc_101", to_account: "acc_108", amount: 1000000)`,
  ]);
  const [balance, moved, refused] = calls.map(it => lines.get(it)!);
  expect(refused).toBeLessThan(moved!);
  expect(moved).toBeLessThan(balance!);
  expect(rows[refused! + 1]).toMatch(/^ {4}refused \(\w+\): /);
  const changes = rows.filter(it => it.startsWith("    Δ "));
  expect(changes).toContain("    Δ accounts.acc_101.balance: 3148.95 → 3136.45");
  expect(changes.some(it => /^ {4}Δ transactions\.\w+: \(added\) \{ .*12\.5/.test(it))).toBe(true);
});

test("a long result is listed whole", () => {
  const value = Array.from({ length: 300 }, (_, i) => `a line of text with the number ${i}`);
  const call: ListedCall = { name: "list", arguments: {}, outcome: { kind: "ok", value } };
  const { text } = formatCallList("Session 2 on notes", [call]);
  expect(text).toMatch(/^Session 2 on notes · 1 call\n/);
  for (const it of value) expect(text).toContain(it);
});

test("texts of a server stay on their lines, with invisible characters made visible", () => {
  const hostile = "<img src=x>\u001b[31m\u202edlrow\n✓ forged()\n[a](command:b)";
  const { text } = formatCallList("Session 3 on notes", [
    { name: hostile, arguments: { [hostile]: hostile }, outcome: { kind: "ok", value: hostile } },
    {
      name: "read",
      arguments: {},
      outcome: { kind: "refused", type: "not_found", message: hostile, hint: hostile },
    },
  ]);
  // eslint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\u001b\u202e]/);
  expect(text.split("\n").filter(it => /^[✓✗]/.test(it))).toHaveLength(2);
  expect(text).toContain("⟨U+202E⟩dlrow");
});
