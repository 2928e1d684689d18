/**
 * Computes the capabilities that a server advertises: the capabilities of its features and of registered handlers, and the capabilities
 * from its options. This module also computes the instructions of the server. `dispatch/Build` calls this module. `legacy/Initialize` sends
 * the capabilities in its answer to `initialize`, and `modern/Era` in its answer to `server/discover`. `modern/Questions` uses `fromPath`
 * to name the capability that a client lacks.
 */
import type { ServerCapabilities } from "../../protocol/Capabilities.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { Description, RegistryService } from "../Registry.js"
import * as Completion from "./Completion.js"

/**
 * Makes a function that gives the current capabilities of a server. The function returns the same object until an entry is added or
 * removed.
 */
export const make = (
  registry: RegistryService,
  options: Parameters<typeof capabilities>[1]
): () => ServerCapabilities => {
  const { descriptions, handlers, prompts, resources, templates, tools } = registry
  let known: ServerCapabilities = {}
  let revision = -1
  let described: ReadonlyArray<Description> = []
  return () => {
    // Each number `revision` only grows, so the sum changes when one number changes.
    const now = tools.revision + resources.revision + templates.revision + prompts.revision + handlers.revision
    if (
      now !== revision || described.length !== descriptions.size || !described.every((one) => descriptions.has(one))
    ) {
      revision = now
      described = [...descriptions]
      known = capabilities(registry, options)
    }
    return known
  }
}

export const capabilities = (
  registry: RegistryService,
  options: {
    readonly logging: boolean
    readonly subscriptions: boolean
    readonly tasks: boolean
    /** The capabilities that the application adds. These replace computed capabilities of the same name. */
    readonly also: ServerCapabilities | undefined
  }
): ServerCapabilities => {
  const handled = [...registry.handlers.values()].flatMap(({ method }) =>
    method.kind === "request" && method.capability !== undefined ? [method.capability] : []
  )
  return [
    options.logging ? { logging: {} } : {},
    registry.offers("tools") ? { tools: { listChanged: true } } : {},
    registry.offers("resources")
      ? { resources: { listChanged: true, ...(options.subscriptions ? { subscribe: true } : undefined) } }
      : {},
    registry.offers("prompts") ? { prompts: { listChanged: true } } : {},
    Completion.isOffered(registry) || [...registry.descriptions].some(({ offers }) => offers.includes("completions"))
      ? { completions: {} }
      : {},
    options.tasks ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {},
    ...handled.map(fromPath),
    (options.also ?? {}) as JsonObject
  ].reduce<JsonObject>(merge, {})
}

/** Adds the settings of the extensions to the capabilities of a server. */
export const withExtensions = (
  capabilities: ServerCapabilities,
  extensions: ServerCapabilities["extensions"]
): ServerCapabilities =>
  extensions === undefined
    ? capabilities
    : { ...capabilities, extensions: { ...capabilities.extensions, ...extensions } }

export const withoutTaskList = (capabilities: ServerCapabilities): ServerCapabilities => {
  if (capabilities.tasks?.list === undefined) return capabilities
  const { list: _, ...tasks } = capabilities.tasks
  return { ...capabilities, tasks }
}

/** Gives the capability at a path such as `resources.subscribe`, as nested JSON objects. */
export const fromPath = (path: string): JsonObject => {
  const [first, ...rest] = path.split(".")
  return { [first!]: Object.fromEntries(rest.map((key) => [key, booleans.has(key) ? true : {}])) }
}

// The members that are booleans; every other member is an object.
const booleans: ReadonlySet<string> = new Set(["subscribe", "listChanged"])

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

/** Makes a function that gives the instructions of the server, followed by the instructions of its features. */
export const instructions = (own: string | undefined, registry: RegistryService) => (): string | undefined => {
  const all = [own, ...[...registry.descriptions].map(({ instructions }) => instructions)]
  const given = all.filter((one) => one !== undefined)
  return given.length === 0 ? undefined : given.join("\n\n")
}
