/** Aliases of entity ids: numbering, restoring, ids that a student made up, and other text. */
import { describe, expect, test } from "vitest";
import { IdAliases } from "../../src/model/student/idAliases.ts";

describe("ids in a conversation", () => {
  const aliases = new IdAliases();
  const check = (text: string, replaced: string) => {
    expect(aliases.replaceIds(text)).toBe(replaced);
    expect(aliases.restoreIds(replaced)).toBe(text);
  };

  test("are numbered by prefix in order of occurrence, and restored", () => {
    check("Savings acc_743; Joint acc_201", "Savings acc_1; Joint acc_2");
    check("card_514 of acc_201", "card_1 of acc_2");
    check("txn_9606 and txn_9607 and acc_743", "txn_1 and txn_2 and acc_1");
  });

  test("that the student made up stay as they are, and their number is not assigned", () => {
    expect(aliases.restoreIds("acc_3")).toBe("acc_3");
    check("there is no account acc_3", "there is no account acc_3");
    check("acc_800", "acc_4");
  });

  test("are a word, an underscore and digits: dates, amounts, paths and codes stay", () => {
    for (const text of [
      "2026-03-09T10:15",
      "1250.75",
      "~/notes/plan.md",
      "IE29AIBK93115212",
      "UPPER_12",
      "acc_",
      "_12",
    ])
      check(text, text);
  });
});
