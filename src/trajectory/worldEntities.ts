/** Finds entities by their ids in the state of a server. */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";

/** The keys that lead to an entity from the state of its server. */
export type EntityPath = readonly string[];

/** How many levels of a state are searched for collections. */
const maxDepth = 4;

const indices = new WeakMap<JsonObject, ReadonlyMap<string, readonly EntityPath[]>>();

/**
 * The entities of a state by id: the members of its collections. A collection is an object whose
 * values are all objects.
 */
function indexEntities(world: JsonObject): ReadonlyMap<string, readonly EntityPath[]> {
  const known = indices.get(world);
  if (known) return known;
  const index = new Map<string, EntityPath[]>();
  const visit = (value: JsonObject, path: EntityPath): void => {
    const isCollection = path.length > 0 && Object.values(value).every(it => isJsonObject(it));
    for (const [key, it] of Object.entries(value)) {
      if (!isJsonObject(it)) continue;
      const own = [...path, key];
      const paths = index.get(key);
      if (isCollection && paths) paths.push(own);
      else if (isCollection) index.set(key, [own]);
      if (own.length < maxDepth) visit(it, own);
    }
  };
  visit(world, []);
  indices.set(world, index);
  return index;
}

/** Whether a state has an entity with that id. */
export const hasEntity = (world: JsonObject, id: string): boolean => indexEntities(world).has(id);

/**
 * Finds an entity by its id, such as `acc_101`, or by a field that only it has, such as a booking's
 * reference or the path of a file. Of several, the one in the collection of that kind.
 */
export function findEntityPath(
  world: JsonObject,
  id: string,
  kind?: string,
): EntityPath | undefined {
  const paths = indexEntities(world).get(id);
  if (paths) return paths.find(it => isOfKind(it, kind)) ?? paths[0];
  return findFilePath(world, id) ?? findByField(world, id, kind);
}

/** The value at a path. */
export function getEntity(world: JsonObject, path: EntityPath): Json | undefined {
  let value: Json | undefined = world;
  for (const key of path)
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

const isOfKind = (path: EntityPath, kind: string | undefined): boolean =>
  kind !== undefined && path.some(it => toSingular(it) === toSingular(kind));

/** A noun without its plural and its underscores, to compare names of collections and kinds. */
export const toSingular = (noun: string) =>
  noun.toLowerCase().replaceAll("_", "").replace(/ies$/, "y").replace(/s$/, "");

/**
 * Finds a file by its absolute path or its path in the user's home, in a state whose folders have
 * their files in `entries`.
 */
function findFilePath(world: JsonObject, id: string): EntityPath | undefined {
  const home = id.startsWith("~")
    ? getEntity(world, ["users", world["user"] as string, "home"])
    : "";
  const file = typeof home === "string" ? id.replace(/^~/, home) : id;
  if (!file.startsWith("/")) return undefined;
  const keys = file.split("/").filter(it => it !== "");
  const path = ["root", ...keys.flatMap(it => ["entries", it])];
  return getEntity(world, path) === undefined ? undefined : path;
}

/** The only entity with a field of that value; of several, the only one of that kind. */
function findByField(
  world: JsonObject,
  id: string,
  kind: string | undefined,
): EntityPath | undefined {
  const paths = Object.entries(world).flatMap(([name, collection]) =>
    isJsonObject(collection)
      ? Object.entries(collection).flatMap(([key, it]) =>
          isJsonObject(it) && Object.values(it).includes(id) ? [[name, key]] : [],
        )
      : [],
  );
  const own = paths.filter(it => isOfKind(it, kind));
  if (own.length === 1) return own[0];
  return paths.length === 1 ? paths[0] : undefined;
}
