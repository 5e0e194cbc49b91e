/**
 * The expression language of watches, hovers and breakpoint conditions: a path, or a comparison of
 * two values, such as `banking.world.accounts.acc_101.balance > 100` or `call.name ==
 * "banking_transfer"`. Expressions have no side effects.
 */
import type { Json } from "../../environment/json.ts";

/** The names that a path can begin with. */
export type Variables = Readonly<Record<string, Json | undefined>>;

/** A text that is not an expression, or a path that does not exist. */
export class ExpressionError extends Error {}

/** The value of a path, or the result of a comparison. Throws an `ExpressionError`. */
export function evaluateExpression(text: string, variables: Variables): Json {
  const parser = new ExpressionParser(text, variables);
  const value = parser.parseExpression();
  parser.expectEnd();
  return value;
}

type Operator = "==" | "!=" | "<=" | ">=" | "<" | ">";

const operatorPattern = /==|!=|<=|>=|<|>/y;
const literalPattern = /-?\d+(?:\.\d+)?(?![\w-])|"(?:[^"\\]|\\.)*"|(?:true|false|null)(?![\w-])/y;
const namePattern = /[A-Za-z_][\w-]*/y;
const keyPattern = /[\w-]+/y;
const bracketPattern = /\[\s*(?:\d+|"(?:[^"\\]|\\.)*")\s*\]/y;

/** Parses an expression and evaluates it at once. */
class ExpressionParser {
  readonly #text: string;
  readonly #variables: Variables;
  #offset = 0;

  constructor(text: string, variables: Variables) {
    this.#text = text;
    this.#variables = variables;
  }

  parseExpression(): Json {
    const left = this.#parseOperand();
    const operator = this.#match(operatorPattern) as Operator | undefined;
    return operator ? compare(left, operator, this.#parseOperand()) : left;
  }

  expectEnd(): void {
    const rest = this.#text.slice(this.#offset).trim();
    if (rest !== "") throw new ExpressionError(`"${rest}" is not part of a path or a comparison`);
  }

  #parseOperand(): Json {
    const literal = this.#match(literalPattern);
    if (literal !== undefined) return parseLiteral(literal);
    const name = this.#match(namePattern);
    if (name === undefined)
      throw new ExpressionError(`"${this.#text.slice(this.#offset).trim()}" is not a path`);
    let value = getProperty(this.#variables, name, name);
    for (let path = name; ;) {
      const key = this.#parseKey();
      if (key === undefined) return value;
      path += `.${key}`;
      value = getProperty(value, key, path);
    }
  }

  #parseKey(): string | undefined {
    if (this.#match(/\./y) !== undefined) {
      const key = this.#match(keyPattern);
      if (key === undefined) throw new ExpressionError("a name must follow the dot");
      return key;
    }
    const bracketed = this.#match(bracketPattern);
    if (bracketed === undefined) return undefined;
    const key = parseLiteral(bracketed.slice(1, -1));
    return typeof key === "string" ? key : JSON.stringify(key);
  }

  /** Consumes the text that matches a sticky pattern, after white space. */
  #match(pattern: RegExp): string | undefined {
    const space = /\s*/y;
    space.lastIndex = this.#offset;
    space.exec(this.#text);
    pattern.lastIndex = space.lastIndex;
    const match = pattern.exec(this.#text)?.[0];
    if (match !== undefined) this.#offset = pattern.lastIndex;
    return match;
  }
}

function parseLiteral(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new ExpressionError(`${text} is not a value`);
  }
}

/** Uses own properties only, so that a path never reaches inherited ones. */
function getProperty(from: Json | Variables, key: string, path: string): Json {
  const value =
    from !== null && typeof from === "object" && Object.hasOwn(from, key)
      ? (from as Variables)[key]
      : undefined;
  if (value === undefined) throw new ExpressionError(`there is no ${path}`);
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
