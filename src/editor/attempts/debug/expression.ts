/**
 * The expression language of watches, hovers, log messages and breakpoint conditions: paths,
 * comparisons, `&&`, `||`, `!` and parentheses, such as `arguments.amount > 100 && outcome ==
 * "ok"`; and the tool calls of the Debug Console. Expressions have no side effects.
 */
import { isJsonObject, type Json, type JsonObject } from "../../../environment/json.ts";
import { describeLongNumber, findLongNumber, parseExactJson } from "../../../storage/exactJson.ts";

/** The names that a path can begin with. */
export type Variables = Readonly<Record<string, Json | undefined>>;

/** A text that is not an expression, or a path that does not exist. */
export class ExpressionError extends Error {}

/** A parsed expression. Throws an `ExpressionError` where a path does not exist. */
export type Expression = (variables: Variables) => Json;

/** Parses an expression. Throws an `ExpressionError` if the text is not one. */
export function parseExpression(text: string): Expression {
  const parser = new ExpressionParser(text);
  const expression = parser.parseExpression();
  parser.expectEnd();
  return expression;
}

/** The value of an expression. Throws an `ExpressionError`. */
export const evaluateExpression = (text: string, variables: Variables): Json =>
  parseExpression(text)(variables);

type Operator = "==" | "!=" | "<=" | ">=" | "<" | ">";

const operatorPattern = /==|!=|<=|>=|<|>/y;
const literalPattern = /-?\d+(?:\.\d+)?(?![\w-])|"(?:[^"\\]|\\.)*"|(?:true|false|null)(?![\w-])/y;
const namePattern = /[A-Za-z_][\w-]*/y;
const keyPattern = /[\w-]+/y;
const bracketPattern = /\[\s*(?:\d+|"(?:[^"\\]|\\.)*")\s*\]/y;

/** The most nested parentheses and `!`, so that no text exhausts the stack. */
const maxDepth = 50;

class ExpressionParser {
  readonly #text: string;
  #offset = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parseExpression(): Expression {
    let left = this.#parseConjunction();
    while (this.#match(/\|\|/y) !== undefined) {
      const [first, second] = [left, this.#parseConjunction()];
      left = it => requireBoolean(first(it)) || requireBoolean(second(it));
    }
    return left;
  }

  expectEnd(): void {
    if (this.#rest !== "")
      throw new ExpressionError(`"${this.#rest}" is not part of a path or a comparison`);
  }

  get #rest(): string {
    return this.#text.slice(this.#offset).trim();
  }

  #parseConjunction(): Expression {
    let left = this.#parseComparison();
    while (this.#match(/&&/y) !== undefined) {
      const [first, second] = [left, this.#parseComparison()];
      left = it => requireBoolean(first(it)) && requireBoolean(second(it));
    }
    return left;
  }

  #parseComparison(): Expression {
    const left = this.#parseOperand();
    const operator = this.#match(operatorPattern) as Operator | undefined;
    if (!operator) return left;
    const right = this.#parseOperand();
    return it => compare(left(it), operator, right(it));
  }

  #parseOperand(): Expression {
    const literal = this.#match(literalPattern);
    if (literal !== undefined) {
      const value = parseLiteral(literal);
      return () => value;
    }
    if (this.#match(/!(?!=)/y) !== undefined) {
      const operand = this.#nest(() => this.#parseOperand());
      return it => !requireBoolean(operand(it));
    }
    if (this.#match(/\(/y) !== undefined) {
      const inner = this.#nest(() => this.parseExpression());
      if (this.#match(/\)/y) === undefined) throw new ExpressionError("a ) is missing");
      return inner;
    }
    return this.#parsePath();
  }

  #parsePath(): Expression {
    const name = this.#match(namePattern);
    if (name === undefined) throw new ExpressionError(`"${this.#rest}" is not a path`);
    const keys: string[] = [];
    for (;;) {
      const key = this.#parseKey();
      if (key === undefined) break;
      keys.push(key);
    }
    return variables => {
      let value = getProperty(variables, name, name);
      let path = name;
      for (const key of keys) value = getProperty(value, key, (path += `.${key}`));
      return value;
    };
  }

  #nest(parse: () => Expression): Expression {
    if (++this.#depth > maxDepth) throw new ExpressionError("the expression is nested too deeply");
    const expression = parse();
    this.#depth--;
    return expression;
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
    // as what other programs sent is shown: a number that would be rounded as its digits
    return parseExactJson(text) as Json;
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

function requireBoolean(value: Json): boolean {
  if (typeof value !== "boolean")
    throw new ExpressionError(`${JSON.stringify(value)} is neither true nor false`);
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

export interface CallExpression {
  readonly name: string;
  readonly arguments: JsonObject;
}

/**
 * Parses a call. Returns undefined for a text that is none, and throws an `ExpressionError` where
 * the arguments cannot be read.
 */
export function parseCallExpression(text: string): CallExpression | undefined {
  const [, name, inner] = /^\s*([A-Za-z_][\w.]*)\s*\(([^]*)\)\s*$/.exec(text) ?? [];
  if (name === undefined || inner === undefined) return undefined;
  const number = findLongNumber(toObject(inner));
  if (number !== undefined) throw new ExpressionError(describeLongNumber(number));
  const args = parseArguments(inner);
  if (!args)
    throw new ExpressionError(
      `the arguments are not JSON: write ${name}(key: "text", other: 5) or ${name}({"key": "text"})`,
    );
  return { name, arguments: args };
}

function parseArguments(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(toObject(text)) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const toObject = (text: string) =>
  quoteKeys(text.trim().startsWith("{") ? text.trim() : `{${text.trim()}}`);

/** Adds the quotes around keys that JSON asks for. Strings stay as they are. */
const quoteKeys = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|([A-Za-z_]\w*)(?=\s*:)/g, (match, key: string | undefined) =>
    key === undefined ? match : `"${key}"`,
  );
