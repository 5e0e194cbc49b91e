/**
 * Makes the interpreter of templates print values as Python does: `True`, `None`, `1e-07`,
 * `['a', {'b': 1.5}]`. Expressions that print are replaced by calls of functions that get the
 * types of values, too.
 */
import { parse, tokenize } from "@huggingface/jinja";
import { protection } from "./tokenizer.ts";

type Program = ReturnType<typeof parse>;

/** A value of the interpreter. */
interface Value {
  readonly type: string;
  readonly value: unknown;
}

interface Node {
  type: string;
  [key: string]: unknown;
}

/** Changes a parsed template, which then needs `pythonFunctions`. */
export function printAsPython(program: Program): Program {
  adapt(program);
  return program;
}

/** They get the value in a list, so that they get it with its type. */
export const pythonFunctions = {
  __text: ([value]: readonly Value[]) => formatText(value!),
  __texts: ([value]: readonly Value[]) => listItems(value!).map(formatText),
  __characters: ([value]: readonly Value[]) =>
    value!.type === "StringValue" ? Array.from(value!.value as string) : [],
  __json: ([value]: readonly Value[], options?: ReadonlyMap<string, Value>) =>
    formatJson(value!, options),
};

const statements = new Set(
  "Program If For Set Macro Comment Break Continue CallStatement FilterStatement".split(" "),
);
const blocks = ["body", "alternate", "defaultBlock"];
const textFilters = new Set("upper lower title capitalize trim indent replace".split(" "));

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === "object" && typeof (value as Node).type === "string";

function adapt(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const [i, it] of value.entries()) value[i] = adapt(it);
    return value;
  }
  if (value instanceof Map) {
    const entries = [...value].map(([key, it]) => [adapt(key), adapt(it)] as const);
    value.clear();
    for (const [key, it] of entries) value.set(key, it);
    return value;
  }
  if (!isNode(value)) return value;
  for (const key of Object.keys(value)) value[key] = adapt(value[key]);
  for (const key of blocks) {
    const block = value[key];
    if (!Array.isArray(block)) continue;
    for (const [i, it] of (block as readonly Node[]).entries())
      if (!statements.has(it.type) && it.type !== "StringLiteral") block[i] = call("__text", it);
  }
  return adaptNode(value);
}

function adaptNode(node: Node): Node {
  if (node.type === "For") node["iterable"] = makeIterable(node["iterable"] as Node);
  if (node.type === "BinaryExpression" && (node["operator"] as { value: string }).value === "~")
    for (const side of ["left", "right"]) node[side] = call("__text", node[side] as Node);
  if (node.type !== "FilterExpression") return node;
  const filter = node["filter"] as Node;
  const isCall = filter.type === "CallExpression";
  const name = ((isCall ? filter["callee"] : filter) as Node)["value"] as string;
  const operand = node["operand"] as Node;
  const args = isCall ? (filter["args"] as readonly Node[]) : [];
  if (name === "string") return call("__text", operand);
  if (name === "tojson") return call("__json", operand, args);
  if (name === "join" && args.length < 2) node["operand"] = call("__texts", operand);
  if (textFilters.has(name)) node["operand"] = call("__text", operand);
  return node;
}

function call(name: string, argument: Node, more: readonly Node[] = []): Node {
  const made = parseExpression(`${name}([it])`);
  const args = made["args"] as Node[];
  (args[0]!["value"] as Node[])[0] = argument;
  args.push(...more);
  return made;
}

/** A loop over a text is one over its characters, and over nothing it has no round. */
function makeIterable(iterable: Node): Node {
  if (iterable.type === "SelectExpression") {
    iterable["lhs"] = makeIterable(iterable["lhs"] as Node);
    return iterable;
  }
  if (iterable.type !== "Identifier" && iterable.type !== "MemberExpression") return iterable;
  const chosen = parseExpression("0 if it is string or it is undefined else 0");
  const condition = chosen["condition"] as { left: Node; right: Node };
  condition.left["operand"] = condition.right["operand"] = iterable;
  chosen["trueExpr"] = call("__characters", iterable);
  chosen["falseExpr"] = iterable;
  return chosen;
}

const parseExpression = (text: string): Node =>
  parse(tokenize(`{{ ${text} }}`)).body[0] as unknown as Node;

// The texts of values

function listItems({ type, value }: Value): readonly Value[] {
  if (type === "ArrayValue" || type === "TupleValue") return value as readonly Value[];
  const texts =
    type === "StringValue"
      ? Array.from(value as string)
      : value instanceof Map
        ? [...(value as ReadonlyMap<string, Value>).keys()]
        : [];
  return texts.map(it => ({ type: "StringValue", value: it }));
}

function formatText(of: Value): string {
  if (of.type === "StringValue") return of.value as string;
  return of.type === "UndefinedValue" ? "" : formatRepr(of);
}

/** As Python's `repr`. */
function formatRepr({ type, value }: Value): string {
  switch (type) {
    case "StringValue":
      return quote(value as string);
    case "NullValue":
      return "None";
    case "UndefinedValue":
      return "Undefined";
    case "BooleanValue":
      return value ? "True" : "False";
    case "IntegerValue":
      return formatInteger(value as number);
    case "FloatValue":
      return formatFloat(value as number);
    case "ArrayValue":
      return `[${(value as readonly Value[]).map(formatRepr).join(", ")}]`;
    case "TupleValue": {
      const items = (value as readonly Value[]).map(formatRepr);
      return items.length === 1 ? `(${items[0]},)` : `(${items.join(", ")})`;
    }
    default: {
      if (!(value instanceof Map)) throw new Error(`a ${type} cannot be printed`);
      const entries = [...(value as ReadonlyMap<string, Value>)];
      return `{${entries.map(([key, it]) => `${quote(key)}: ${formatRepr(it)}`).join(", ")}}`;
    }
  }
}

const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(/[\\'"\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu, found => {
    if (found === "\\") return "\\\\";
    if (found === "'" || found === '"') return found === mark ? `\\${found}` : found;
    if (found === " " || found === protection) return found;
    const code = found.codePointAt(0)!;
    const digits = code.toString(16);
    return (
      escapes[found] ??
      (code < 256
        ? `\\x${digits.padStart(2, "0")}`
        : code < 65_536
          ? `\\u${digits.padStart(4, "0")}`
          : `\\U${digits.padStart(8, "0")}`)
    );
  });
  return mark + escaped + mark;
}

const formatInteger = (value: number): string =>
  Number.isFinite(value) ? BigInt(value).toString() : String(value);

/** The same digits as in JavaScript, with an exponent outside of 1e-4 to 1e16. */
function formatFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power < -4 || power >= 16)
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  if (Object.is(value, -0)) return "-0.0";
  const plain =
    power < 0 ? value.toFixed(digits.replace(/\D/g, "").length - 1 - power) : `${value}`;
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** As Python's `json.dumps` with `ensure_ascii=False`, with the options of the filter `tojson`. */
function formatJson(of: Value, options?: ReadonlyMap<string, Value>): string {
  const isAscii = options?.get("ensure_ascii")?.value === true;
  const isSorted = options?.get("sort_keys")?.value === true;
  const indent = options?.get("indent")?.value as number | null | undefined;
  const own = options?.get("separators")?.value as readonly Value[] | null | undefined;
  const hasLines = typeof indent === "number";
  const [between, colon] = own ? own.map(it => String(it.value)) : [hasLines ? "," : ", ", ": "];
  const formatString = (text: string) => {
    const json = JSON.stringify(text);
    if (!isAscii) return json;
    return json.replaceAll(/[\u007F-\uFFFF]/g, it =>
      it === protection ? it : `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  };
  const enclose = (open: string, items: readonly string[], close: string, depth: number) => {
    if (items.length === 0 || !hasLines) return open + items.join(between) + close;
    const line = (levels: number) => `\n${" ".repeat(indent * levels)}`;
    return open + line(depth + 1) + items.join(between + line(depth + 1)) + line(depth) + close;
  };
  const format = ({ type, value }: Value, depth: number): string => {
    if (type === "StringValue") return formatString(value as string);
    if (type === "IntegerValue") return formatInteger(value as number);
    if (type === "FloatValue") return formatFloat(value as number);
    if (type === "BooleanValue") return String(value);
    if (value === null || value === undefined) return "null";
    if (Array.isArray(value))
      return enclose(
        "[",
        (value as readonly Value[]).map(it => format(it, depth + 1)),
        "]",
        depth,
      );
    if (!(value instanceof Map)) throw new Error(`Cannot convert to JSON: ${type}`);
    const entries = [...(value as ReadonlyMap<string, Value>)];
    if (isSorted) entries.sort(([a], [b]) => (a < b ? -1 : 1));
    const items = entries.map(([key, it]) => formatString(key) + colon + format(it, depth + 1));
    return enclose("{", items, "}", depth);
  };
  return format(of, 0);
}
