/**
 * Finds the part of a JSON Schema that a local reference names with a JSON pointer. `ArgumentRepair` and `ArgumentNames` skip every other
 * kind of reference. `JsonSchemaValidator` resolves all kinds.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { JsonObject } from "../../protocol/Json.js"

/** Returns the part to which a pointer such as `/$defs/name` leads; `undefined` if there is none. */
export const at = (root: unknown, pointer: string): unknown =>
  pointer.slice(1).split("/").reduce<unknown>((part, token) => {
    const key = decode(token).replace(/~1/g, "/").replace(/~0/g, "~")
    return typeof part === "object" && part !== null && Object.hasOwn(part, key)
      ? (part as Record<string, unknown>)[key]
      : undefined
  }, root)

/** Returns the part to which a reference such as `#/$defs/name` leads; `undefined` for a reference of another kind. */
export const find = (root: JsonObject, reference: unknown): unknown =>
  reference === "#"
    ? root
    : typeof reference === "string" && reference.startsWith("#/")
    ? at(root, reference.slice(1))
    : undefined

/** Whether a part of a schema has an `$id`. The references of such a part do not lead into the schema around it. */
export const isResource = (part: unknown): boolean => Predicate.isRecord(part) && typeof part["$id"] === "string"

const decode = (token: string): string => Either.getOrElse(Either.try(() => decodeURIComponent(token)), () => token)
