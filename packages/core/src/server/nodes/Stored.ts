/**
 * Decodes the texts in stores, for the modules of this folder and for the packages `redis` and `sql`. Another program, or another version
 * of this library, may have written a text, so this module checks each text with a schema. When an entry cannot be decoded, the store skips
 * only this entry, and logs its key once.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import { JsonObject } from "../../protocol/Json.js"
import { RequestId } from "../../protocol/Meta.js"
import * as SchemaCheck from "../../protocol/schema/SchemaCheck.js"
import { TaskStatus } from "../../protocol/Tasks.js"
import * as Version from "../../protocol/Version.js"
import type { Change } from "../ChangeBus.js"
import * as ClientLogger from "../ClientLogger.js"
import type { StoredTask } from "../TaskStore.js"

/**
 * Makes a decoder of JSON texts with this schema. The decoder gives `undefined` for any other text. The JSON may nest without a limit,
 * because a server has stored it.
 */
const decoder = <A>(schema: Schema.Schema<A>): (text: unknown) => A | undefined => {
  const conforms = SchemaCheck.compile(schema)
  return (text) => {
    const value = typeof text === "string" ? JsonText.parse(text, Infinity) : undefined
    return !(value instanceof JsonText.Refused) && conforms(value) ? value : undefined
  }
}

const Outcome = Schema.Union(
  Schema.Struct({ result: JsonObject }),
  Schema.Struct({ error: Schema.Struct({ code: Schema.Number, message: Schema.String }) })
)

const Task = Schema.Struct({
  taskId: Schema.String,
  owner: Schema.NullOr(Schema.String),
  node: Schema.optional(Schema.String),
  detached: Schema.optional(Schema.String),
  revision: Schema.Literal(...Version.all),
  requires: Schema.optional(Schema.Array(Schema.String)),
  version: Schema.Int,
  status: TaskStatus,
  statusMessage: Schema.optional(Schema.String),
  createdAt: Schema.Number,
  lastUpdatedAt: Schema.Number,
  ttl: Schema.Number,
  pollInterval: Schema.Number,
  questions: Schema.Record({
    key: Schema.String,
    value: Schema.Struct({ method: Schema.String, params: JsonObject })
  }),
  answers: Schema.Record({ key: Schema.String, value: Outcome }),
  outcome: Schema.optional(Outcome)
})

export const task: (text: unknown) => StoredTask | undefined = decoder(Task)

export const change: (text: unknown) => Change | undefined = decoder(Schema.Union(
  Schema.Struct({
    _tag: Schema.Literal("List"),
    kind: Schema.Literal("tools", "resources", "prompts"),
    principal: Schema.optional(Schema.String)
  }),
  Schema.Struct({ _tag: Schema.Literal("Resource"), uri: Schema.String }),
  Schema.Struct({
    _tag: Schema.Literal("Extension"),
    notification: Schema.Struct({
      method: Schema.String,
      filter: Schema.String,
      key: Schema.UndefinedOr(Schema.String),
      params: JsonObject
    })
  }),
  Schema.Struct({ _tag: Schema.Literal("Unknown") })
))

/** Decodes the requests of a stream. */
export const requests: (text: unknown) => ReadonlyArray<typeof RequestId.Type> | undefined = decoder(
  Schema.Array(RequestId)
)

export const string: (text: unknown) => string | undefined = decoder(Schema.String)

/**
 * Decodes the facts of a session. Gives an empty object for unreadable facts, because the node that serves the session does not need the
 * facts.
 */
export const facts = (text: unknown): JsonObject => decodeFacts(text) ?? {}

const decodeFacts = decoder(JsonObject)

/** A key for `SealKeys`, in the form in which a store contains it. */
export interface Key extends Schema.Schema.Type<typeof Key> {}

const Key = Schema.Struct({
  id: Schema.String,
  secret: Schema.String.pipe(Schema.filter((secret) => Either.isRight(Encoding.decodeBase64(secret)))),
  /** The time from which nodes seal with the key, in milliseconds since 1970. */
  from: Schema.Number
})

const isKey = SchemaCheck.compile(Key)

const elements = decoder(Schema.Array(Schema.Unknown))

/** Decodes the keys in a text. Gives two lists: the elements that are not keys, and the keys. `undefined` when the text is not an array. */
export const keys = (
  text: unknown
): readonly [others: ReadonlyArray<unknown>, keys: ReadonlyArray<Key>] | undefined => {
  const all = elements(text)
  return all && Arr.partition(all, isKey)
}

/** How many keys of unreadable entries a reporter stores. */
const MAX_LOGGED = 1000

/** Makes a function that logs an entry that this node cannot read, once for each key. Use one such function for all entries of a store. */
export const reporter = (): (key: string) => Effect.Effect<void> => {
  const logged = new Set<string>()
  return (key) =>
    Effect.suspend(() => {
      if (logged.has(key) || logged.size >= MAX_LOGGED) return Effect.void
      logged.add(key)
      return ClientLogger.forOperator(
        Effect.logWarning(
          `The store has an entry that this node cannot read; it skips the entry: ${JSON.stringify(key.slice(0, 300))}`
        )
      )
    })
}

/** Gives the decoded value. When there is no decoded value, reports the key of the entry. */
export const orReport = <A>(
  value: A | undefined,
  report: (key: string) => Effect.Effect<void>,
  key: string
): Effect.Effect<A | undefined> => value === undefined ? Effect.as(report(key), value) : Effect.succeed(value)
