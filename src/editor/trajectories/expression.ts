/**
 * The language of watches, hovers and conditions: a path into values, or a comparison of two. It
 * reads, and does nothing else: `banking.world.accounts.acc_101.balance > 100`, `call.name ==
 * "banking_transfer"`. Has a parser of its own; knows no debugger.
 */
import type { Json } from "../../environment/json.ts";

/** What paths lead into: every name that a person may use first. */
export type Variables = Readonly<Record<string, Json | undefined>>;

/** A text that is not of the language, or a path that leads nowhere. */
export class ExpressionError extends Error {}

/** The value of a path, or true or false for a comparison. Throws `Unreadable`. */
export function evaluateExpression(text: string, scope: Variables): Json {
  const parser = new Parser(text, scope);
  const value = parser.expression();
  parser.end();
  return value;
}

type Operator = "==" | "!=" | "<=" | ">=" | "<" | ">";

class Parser {
  readonly #text: string;
  readonly #scope: Variables;
  #at = 0;

  constructor(text: string, scope: Variables) {
    this.#text = text;
    this.#scope = scope;
  }

  expression(): Json {
    const left = this.#operand();
    const operator = this.#take(/==|!=|<=|>=|<|>/y) as Operator | undefined;
    return operator ? compare(left, operator, this.#operand()) : left;
  }

  end(): void {
    const rest = this.#text.slice(this.#at).trim();
    if (rest !== "") throw new ExpressionError(`"${rest}" is more than a path or a comparison`);
  }

  #operand(): Json {
    const literal = this.#take(
      /-?\d+(?:\.\d+)?(?![\w-])|"(?:[^"\\]|\\.)*"|(?:true|false|null)(?![\w-])/y,
    );
    if (literal !== undefined) return this.#json(literal);
    const name = this.#take(/[A-Za-z_][\w-]*/y);
    if (name === undefined)
      throw new ExpressionError(`"${this.#text.slice(this.#at).trim()}" is no path`);
    let value = getProperty(this.#scope, name, name);
    for (let walked = name; ;) {
      const key = this.#key();
      if (key === undefined) return value;
      walked += `.${key}`;
      value = getProperty(value, key, walked);
    }
  }

  #key(): string | undefined {
    if (this.#take(/\./y) !== undefined) {
      const key = this.#take(/[\w-]+/y);
      if (key === undefined) throw new ExpressionError("a name must follow the dot");
      return key;
    }
    const bracketed = this.#take(/\[\s*(?:\d+|"(?:[^"\\]|\\.)*")\s*\]/y);
    if (bracketed === undefined) return undefined;
    const key = this.#json(bracketed.slice(1, -1));
    return typeof key === "string" ? key : JSON.stringify(key);
  }

  #json(text: string): Json {
    try {
      return JSON.parse(text) as Json;
    } catch {
      throw new ExpressionError(`${text} is no value`);
    }
  }

  #take(pattern: RegExp): string | undefined {
    const blank = /\s*/y;
    blank.lastIndex = this.#at;
    blank.exec(this.#text);
    pattern.lastIndex = blank.lastIndex;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at = pattern.lastIndex;
    return found;
  }
}

/** Own keys only: a path never reaches what a value inherits. */
function getProperty(from: Json | Variables, key: string, walked: string): Json {
  const value =
    from !== null && typeof from === "object" && Object.hasOwn(from, key)
      ? (from as Variables)[key]
      : undefined;
  if (value === undefined) throw new ExpressionError(`there is no ${walked}`);
  return value;
}

function compare(left: Json, operator: Operator, right: Json): boolean {
  switch (operator) {
    case "==":
      return JSON.stringify(left) === JSON.stringify(right);
    case "!=":
      return JSON.stringify(left) !== JSON.stringify(right);
    default:
      if (!(
        (typeof left === "number" && typeof right === "number") ||
        (typeof left === "string" && typeof right === "string")
      ))
        throw new ExpressionError(
          `${JSON.stringify(left)} and ${JSON.stringify(right)} have no order`,
        );
      return { "<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right }[
        operator
      ];
  }
}
