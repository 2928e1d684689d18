/**
 * The members of a subscription's filter that extensions define: which of them a client may use, and which of their keys the
 * application accepts. A server without extensions ignores all of them, as it ignores unknown members.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 */
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { InvalidParams, MissingClientCapability } from "@effect-mcp/protocol/McpError"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { ExtensionNotification } from "../Registry.js"
import type { RegistryService } from "../Registry.js"
import type { ModernSession } from "./RequestFacts.js"

/** By name of the member: a flag that is set, or its keys. */
export type Wanted = ReadonlyMap<string, true | ReadonlySet<string>>

const nothing: Wanted = new Map()

/** What a client wants. Refuses it to a client that has not declared the extension. */
export const read = (
  { filters }: ExtensionTable.ExtensionTable,
  notifications: JsonObject,
  { facts: { clientCapabilities, version } }: ModernSession
): Either.Either<Wanted, InvalidParams | MissingClientCapability> => {
  if (filters.size === 0) return Either.right(nothing)
  const wanted = new Map<string, true | ReadonlySet<string>>()
  for (const filter of filters.values()) {
    const { extension, hasKeys, name } = filter
    const value = Object.hasOwn(notifications, name) ? notifications[name] : undefined
    if (value === undefined || value === null || value === false || !ExtensionTable.isIn(filter, version)) continue
    const required = Capabilities.missing(clientCapabilities, ExtensionTable.capability(extension))
    if (required !== undefined) return Either.left(new MissingClientCapability({ required }))
    if (hasKeys ? !isKeys(value) : value !== true) {
      const message = `Invalid params: notifications.${name} must be ${hasKeys ? "a list of texts" : "a boolean"}`
      return Either.left(new InvalidParams({ message }))
    }
    wanted.set(name, value === true ? true : new Set(value as ReadonlyArray<string>))
  }
  return Either.right(wanted)
}

const isKeys = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((key) => typeof key === "string")

/** How many keys there are. */
export const size = (wanted: Wanted): number => {
  let keys = 0
  for (const value of wanted.values()) if (value !== true) keys += value.size
  return keys
}

/** What the application accepts of it: it may choose among the keys of a filter. */
export const accepted = (wanted: Wanted, filters: RegistryService["filters"]): Effect.Effect<Wanted, unknown> => {
  const chosen = [...wanted].map(
    ([name, value]): Effect.Effect<readonly [string, true | ReadonlySet<string>], unknown> => {
      const chooser = filters.get(name)
      return value === true || chooser === undefined ? Effect.succeed([name, value]) : Effect.mapInputContext(
        Effect.map(
          chooser.accept([...value]) as Effect.Effect<ReadonlyArray<string>, unknown>,
          (keys) => [name, new Set(keys.filter((key) => value.has(key)))] as const
        ),
        (request: Context.Context<never>) => Context.merge(chooser.context, request)
      )
    }
  )
  return chosen.length === 0 ? Effect.succeed(wanted) : Effect.map(Effect.all(chosen), (all) => new Map(all))
}

/** As the acknowledgement names it. */
export const toJson = (wanted: Wanted): JsonObject =>
  Object.fromEntries([...wanted].map(([name, value]) => [name, value === true ? value : [...value]]))

/** Whether a subscription includes a notification. */
export const includes = (wanted: Wanted, { filter, key }: ExtensionNotification): boolean => {
  const value = wanted.get(filter)
  return value === true || (value !== undefined && key !== undefined && value.has(key))
}
