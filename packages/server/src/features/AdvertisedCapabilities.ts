/**
 * What a server says that it offers: what its features keep, what the application serves itself, and what it says beside.
 * When it is said, and to whom, is the business of each era.
 *
 * @since 0.1.0
 */
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { RegistryService } from "../Registry.js"
import * as Completion from "./Completion.js"

/**
 * The capabilities of a server at the moment.
 *
 * @since 0.1.0
 * @category getters
 */
export const capabilities = (
  registry: RegistryService,
  options: {
    readonly logging: boolean
    readonly subscriptions: boolean
    readonly also: ServerCapabilities | undefined
  }
): ServerCapabilities => {
  const served = [...registry.handlers.values()].flatMap(({ method }) =>
    method.kind === "request" && method.capability !== undefined ? [method.capability] : []
  )
  return [
    options.logging ? { logging: {} } : {},
    registry.offers("tools") ? { tools: { listChanged: true } } : {},
    registry.offers("resources")
      ? { resources: { listChanged: true, ...(options.subscriptions ? { subscribe: true } : undefined) } }
      : {},
    registry.offers("prompts") ? { prompts: { listChanged: true } } : {},
    Completion.isOffered(registry) ? { completions: {} } : {},
    ...served.map(declaring),
    (options.also ?? {}) as JsonObject
  ].reduce<JsonObject>(merge, {})
}

/** The capability of this path, declared: `resources.subscribe`. */
const declaring = (path: string): JsonObject => {
  const [first, ...rest] = path.split(".")
  return { [first!]: Object.fromEntries(rest.map((key) => [key, yesOrNo.has(key) ? true : {}])) }
}

// All others say by being there that they are.
const yesOrNo: ReadonlySet<string> = new Set(["subscribe", "listChanged"])

const merge = (into: JsonObject, more: JsonObject): JsonObject => ({
  ...into,
  ...Object.fromEntries(
    Object.entries(more).map(([key, value]) => [
      key,
      isObject(value) && isObject(into[key]) ? { ...into[key], ...value } : value
    ])
  )
})

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null
