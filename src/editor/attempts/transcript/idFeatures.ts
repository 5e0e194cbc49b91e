/**
 * Language features of the ids in a transcript: Go to Definition leads from an argument to where
 * its id came from, and from there to the entity in the fixture; references, highlights and hovers.
 */
import {
  DocumentHighlight,
  Hover,
  Location,
  Range,
  languages,
  type Disposable,
  type LocationLink,
  type Position,
  type TextDocument,
  type Uri,
} from "vscode";
import { createHoverText } from "../../shared/notifications.ts";
import type { FixtureEntities } from "./fixtureEntities.ts";
import { describeEntityAt } from "./idDescription.ts";
import {
  findIdSource,
  findOccurrenceAt,
  findTranscriptIds,
  type IdOccurrence,
  type IdSource,
  type TranscriptIds,
} from "./transcriptIds.ts";
import type { OpenAttempt, Transcripts } from "../transcripts.ts";

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
