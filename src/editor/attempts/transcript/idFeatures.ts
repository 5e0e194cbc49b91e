/**
 * Language features of the ids in a transcript: Go to Definition leads from an argument to where
 * its id came from, and from there to the entity in the fixture; references, highlights and hovers.
 */
import {
  type Disposable,
  DocumentHighlight,
  Hover,
  languages,
  Location,
  type LocationLink,
  type Position,
  Range,
  type TextDocument,
  Uri,
  workspace,
} from "vscode";
import { findRange } from "../../../storage/parseJson.ts";
import { findEntityPath } from "../../../trajectory/entities.ts";
import type { FixtureFiles } from "../../fixtures/fixtureFiles.ts";
import { createHoverText } from "../../shared/notifications.ts";
import type { ReadOnlyFiles } from "../../shared/readOnlyFiles.ts";
import type { ServerDefinitions } from "../../shared/serverDefinitions.ts";
import type { OpenAttempt, Transcripts } from "../transcripts.ts";
import {
  describeEntityAt,
  findIdSource,
  findOccurrenceAt,
  findTranscriptIds,
  getServer,
  type IdOccurrence,
  type IdSource,
  listStartWorlds,
  type TranscriptIds,
} from "./transcriptIds.ts";

const language = { language: "prove-trajectory" };

/** An id in an open transcript. */
interface FoundId {
  readonly uri: Uri;
  readonly ids: TranscriptIds;
  readonly occurrence: IdOccurrence;
}

export const registerIdFeatures = (
  transcripts: Transcripts,
  entities: FixtureEntities,
): Disposable[] => {
  const findId = createIdFinder(transcripts);
  return [
    languages.registerDefinitionProvider(language, {
      async provideDefinition(document, position) {
        const found = await findId(document, position);
        return found && [createLink(found, await findDefinition(found, entities))];
      },
    }),
    languages.registerDeclarationProvider(language, {
      async provideDeclaration(document, position) {
        const found = await findId(document, position);
        const target = found && (await entities.find(found.ids, found.occurrence));
        return target && [createLink(found, target)];
      },
    }),
    languages.registerReferenceProvider(language, {
      async provideReferences(document, position, { includeDeclaration }) {
        const found = await findId(document, position);
        if (!found) return undefined;
        const { ids, occurrence, uri } = found;
        const target = includeDeclaration ? await entities.find(ids, occurrence) : undefined;
        const own = listSame(found).map(it => new Location(uri, toRange(it)));
        return target ? [target, ...own] : own;
      },
    }),
    languages.registerDocumentHighlightProvider(language, {
      async provideDocumentHighlights(document, position) {
        const found = await findId(document, position);
        return found && listSame(found).map(it => new DocumentHighlight(toRange(it)));
      },
    }),
    languages.registerHoverProvider(language, {
      async provideHover(document, position) {
        const found = await findId(document, position);
        if (!found) return undefined;
        const { title, code } = describeEntityAt(found.ids, found.occurrence);
        return new Hover(createHoverText(title, code), toRange(found.occurrence));
      },
    }),
  ];
};

/** Finds the id at a position; the ids of an attempt are searched once. */
function createIdFinder(transcripts: Transcripts) {
  const idsByAttempt = new WeakMap<OpenAttempt, TranscriptIds>();
  return async ({ uri }: TextDocument, position: Position): Promise<FoundId | undefined> => {
    const attempt = await transcripts.getAttempt(uri);
    const ids = idsByAttempt.get(attempt) ?? findTranscriptIds(attempt);
    idsByAttempt.set(attempt, ids);
    const occurrence = findOccurrenceAt(ids, position.line, position.character);
    return occurrence && { uri, ids, occurrence };
  };
}

/** From an argument, where its id came from; otherwise the entity, or where its id occurs first. */
async function findDefinition(found: FoundId, entities: FixtureEntities): Promise<Location> {
  const { ids, occurrence, uri } = found;
  const source = findIdSource(ids, occurrence);
  if (source) return new Location(uri, toRange(source));
  const entity = await entities.find(ids, occurrence);
  return entity ?? new Location(uri, toRange(listSame(found)[0]!));
}

const listSame = ({ ids, occurrence }: FoundId): readonly IdOccurrence[] =>
  ids.occurrences.filter(it => it.id === occurrence.id);

const createLink = ({ occurrence }: FoundId, { uri, range }: Location): LocationLink => ({
  originSelectionRange: toRange(occurrence),
  targetUri: uri,
  targetRange: range,
});

const toRange = ({ line, start = 0, end = 0 }: IdSource): Range =>
  new Range(line, start, line, end);

export class FixtureEntities {
  readonly #fixtures: FixtureFiles;

  constructor(fixtures: FixtureFiles, files: ReadOnlyFiles, definitions: ServerDefinitions) {
    this.#fixtures = fixtures;
    files.provide("/variants/", async uri => {
      const catalog = await definitions.openCatalog();
      const { server, fixture } = parseVariantUri(uri);
      return `${JSON.stringify(catalog.getFixture(server, fixture), null, 2)}\n`;
    });
  }

  /** The place of an id's entity in a fixture; undefined if no fixture of the attempt has it. */
  async find(ids: TranscriptIds, occurrence: IdOccurrence): Promise<Location | undefined> {
    const first = getServer(ids, occurrence);
    const worlds = listStartWorlds(ids.attempt).toSorted(
      (a, b) => Number(b.server === first) - Number(a.server === first),
    );
    for (const { server, fixture, world } of worlds) {
      const path = findEntityPath(world, occurrence.id, ids.kinds.get(occurrence.id));
      if (!path) continue;
      const uri = this.#getUri(server, fixture);
      const document = await workspace.openTextDocument(uri);
      const { start, end } = findRange(document.getText(), ["state", ...path]);
      return new Location(uri, new Range(document.positionAt(start), document.positionAt(end)));
    }
    return undefined;
  }

  #getUri(server: string, fixture: string): Uri {
    const file = this.#fixtures.find(server, fixture);
    return file
      ? this.#fixtures.getDocumentUri(file)
      : Uri.from({ scheme: "prove", path: `/variants/${server}/${fixture}.json` });
  }
}

function parseVariantUri({ path }: Uri): { readonly server: string; readonly fixture: string } {
  const [server = "", file = ""] = path.split("/").slice(2);
  return { server, fixture: file.replace(/\.json$/, "") };
}
