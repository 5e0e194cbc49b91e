/**
 * What a server answered, in the file `prove/servers/NAME.cassette.jsonl`: a line about the server
 * and its tools, and a line for each call. Each line has a digest of itself and of the lines before
 * it, so that a change is noticed. Lines are only appended.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Fault, Outcome } from "../../environment/outcome.ts";
import { getItemSchema, getProperties, removeNull } from "../../environment/schemaKeywords.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { withReadErrors } from "../../storage/fileErrors.ts";
import { isCutOff, isJson } from "../../storage/jsonLines.ts";
import { LineWriter } from "../../storage/lineWriter.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { maxLogBytes, readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";
import type { ConnectedTool } from "../toolList.ts";

const cassetteFormat = "prove/cassette@1";

const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const toolSchema = z.strictObject({
  name: z.string().min(1),
  effect: z.enum(["read", "write"]),
  summary: z.string(),
  inputSchema: jsonObject,
  outputSchema: jsonObject,
});

type CassetteTool = z.output<typeof toolSchema>;

const digest = z.string();

const headerSchema = z.strictObject({
  format: z.literal(cassetteFormat),
  /** The name of its entry in `prove/mcp.json`. */
  entry: z.string(),
  /** What the server says that it is. */
  server: z.strictObject({ name: z.string().exactOptional(), version: z.string().exactOptional() }),
  recordedAt: z.string(),
  /** The hash of what the server listed. */
  list: z.string(),
  tools: z.array(toolSchema),
  digest,
});

type Header = Omit<z.output<typeof headerSchema>, "digest">;

const outcomeSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("ok"), value: z.json() }),
  z.strictObject({
    kind: z.literal("refused"),
    type: z.string(),
    message: z.string(),
    hint: z.string().optional(),
  }),
]);

const callSchema = z.strictObject({
  tool: z.string(),
  arguments: jsonObject,
  outcome: outcomeSchema as unknown as z.ZodType<Outcome>,
  digest,
});

type RecordedCall = Omit<z.output<typeof callSchema>, "digest">;

const notRecorded = "not recorded: ";

/** Why a call cannot be answered, whatever the server would say. */
export const createNotRecordedFault = (tool: string): Fault => ({
  kind: "refused",
  type: "precondition_failed",
  message: `${notRecorded}${tool} was not called with these arguments`,
});

export const isNotRecorded = (outcome: {
  readonly kind: string;
  readonly message?: string;
}): boolean => outcome.message?.startsWith(notRecorded) === true;

export const getCassetteFile = (prove: string, server: string): string =>
  join(prove, "servers", `${server}.cassette.jsonl`);

/** What a cassette says about the server that is recorded. */
export const createHeader = (
  entry: string,
  server: Header["server"],
  tools: Iterable<ConnectedTool>,
): Header => {
  const listed = Array.from(
    tools,
    ({ name, effect, summary, inputSchema, outputSchema }): CassetteTool => ({
      name,
      effect,
      summary,
      inputSchema,
      outputSchema,
    }),
  );
  // an entry may say of more tools that they read
  const list = listed
    .map(it => ({ ...it, effect: null }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    format: cassetteFormat,
    entry,
    server,
    recordedAt: new Date().toISOString(),
    list: hash(canonicalJson(list)),
    tools: listed,
  };
};

const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

const hashLine = (before: string, line: object): string =>
  hash(`${before}\n${canonicalJson(line)}`);

/** The calls of a file, by their arguments. */
export class Cassette {
  readonly file: string;
  readonly header: Header;
  readonly #tools: ReadonlyMap<string, CassetteTool>;
  readonly #calls = new Map<string, RecordedCall>();
  /** Of the last line. */
  #digest: string;
  /** What a person should know about the file. */
  readonly remarks: string[] = [];
  #writer: LineWriter | undefined;

  private constructor(file: string, header: Header, headerDigest: string) {
    this.file = file;
    this.header = header;
    this.#tools = new Map(header.tools.map(it => [it.name, it]));
    this.#digest = headerDigest;
  }

  /** Throws a `UserError` for a file that is missing, of another format, or was changed. */
  static read(file: string): Cassette {
    const text = withReadErrors(file, () => readTextFile(file, maxLogBytes));
    const lines = text.split("\n");
    // the last line is empty, or its write was cut off
    const torn = isJson(lines.at(-1)!) ? "" : lines.pop()!;
    const [first = "", ...rest] = lines;
    const source = {
      file,
      noun: "a recording of a server",
      remedy:
        "restore the file as it was, or move it away and record the server again with prove-rl record",
    };
    if (first === "")
      throw new UserError(`${file} has no line that says what was recorded`, source.remedy);
    const { digest: headerDigest, ...header } = parseJson(headerSchema, first, {
      ...source,
      line: 1,
      format: cassetteFormat,
    });
    const cassette = new Cassette(file, header, headerDigest);
    const check = (before: string, line: object, digestThere: string, number: number) => {
      if (hashLine(before, line) !== digestThere)
        throw new UserError(
          `${file}:${number} is not as it was recorded: this line or one before it was edited, removed or moved`,
          source.remedy,
        );
    };
    check("", header, headerDigest, 1);
    for (const [i, it] of rest.entries()) {
      const line = i + 2;
      const { digest: own, ...call } = parseJson(callSchema, it, { ...source, line });
      check(cassette.#digest, call, own, line);
      cassette.#keep(call, own);
    }
    if (torn !== "") {
      if (!isCutOff(torn))
        throw new UserError(
          `${file}:${lines.length + 1} does not end with a line break, but is no call that was cut off`,
          source.remedy,
        );
      cassette.remarks.push(
        `the last line of ${file} is incomplete, because a recording was interrupted; it is left out, and recording again removes it`,
      );
    }
    return cassette;
  }

  /**
   * The file as it is, or a new one with this header, to record more. Throws a `UserError` if the
   * server lists other tools now.
   */
  static open(file: string, header: Header): Cassette {
    if (existsSync(file)) {
      const cassette = Cassette.read(file);
      if (cassette.header.list !== header.list)
        throw new UserError(
          `${header.entry} lists other tools than when ${file} was recorded, on ${cassette.header.recordedAt.slice(0, 10)}`,
          "move that file away to record the server again, or record it under another name with --as",
        );
      cassette.#writer = new LineWriter(file);
      return cassette;
    }
    const headerDigest = hashLine("", header);
    const cassette = new Cassette(file, header, headerDigest);
    cassette.#writer = new LineWriter(file);
    cassette.#writer.append(JSON.stringify({ ...header, digest: headerDigest }));
    return cassette;
  }

  /** Ends the recording. */
  close(): void {
    this.#writer?.close();
  }

  get calls(): Iterable<RecordedCall> {
    return this.#calls.values();
  }

  get size(): number {
    return this.#calls.size;
  }

  find(tool: string, args: JsonObject): Outcome | undefined {
    return this.#calls.get(this.#getKey(tool, args))?.outcome;
  }

  /**
   * Appends a call. If it is there already, nothing is written, and the first answer stays: returns
   * whether the new one is the same.
   */
  add(call: RecordedCall): "new" | "same" | "other" {
    const known = this.find(call.tool, call.arguments);
    if (known) return canonicalJson(known) === canonicalJson(call.outcome) ? "same" : "other";
    const own = hashLine(this.#digest, call);
    this.#writer!.append(JSON.stringify({ ...call, digest: own }));
    this.#keep(call, own);
    return "new";
  }

  #keep(call: RecordedCall, own: string): void {
    this.#calls.set(this.#getKey(call.tool, call.arguments), call);
    this.#digest = own;
  }

  /** Equal for calls that differ in the order of keys, or in values that are the default. */
  #getKey(tool: string, args: JsonObject): string {
    const schema = this.#tools.get(tool)?.inputSchema ?? {};
    return `${tool} ${canonicalJson(fillInDefaults(schema, args))}`;
  }
}

function fillInDefaults(published: JsonSchema, value: Json): Json {
  const schema = removeNull(published);
  if (Array.isArray(value)) {
    const items = getItemSchema(schema);
    return items ? value.map((it: Json) => fillInDefaults(items, it)) : value;
  }
  if (!isJsonObject(value)) return value;
  const filled: Record<string, Json> = { ...value };
  for (const [key, property] of Object.entries(getProperties(schema))) {
    const given = Object.hasOwn(filled, key) ? filled[key] : property["default"];
    if (given !== undefined) filled[key] = fillInDefaults(property, given);
  }
  return filled;
}
