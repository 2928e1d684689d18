/**
 * Reads the structure of an OpenAPI document: the version, the parts with their JSON pointers, the targets of references, and the URL of
 * the server. The functions throw an `OpenApiError` for a part that cannot be read. `attempt` catches this error, so that a part that
 * cannot be read affects only its operation. `Operations` and `Schemas` interpret the parts.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import { OpenApiError } from "../OpenApiError.js"
import * as ForeignJson from "./ForeignJson.js"

export interface Document {
  readonly root: JsonObject
  /**
   * Whether the version of the document is 3.0. In version 3.0 the schemas are a dialect of JSON Schema. From version 3.1 on, the schemas
   * are JSON Schema.
   */
  readonly isOld: boolean
}

/** An object in the document, and its JSON pointer. */
export interface Part {
  readonly value: JsonObject
  readonly pointer: string
}

export const refuse = (pointer: string, problem: string): never => {
  throw new OpenApiError({ pointer, problem })
}

/**
 * Runs a function that reads a part, and returns its result. `Left` is the `OpenApiError` that the function has thrown. Throws any other
 * error again.
 */
export const attempt = <A>(pointer: string, read: () => A): Either.Either<A, OpenApiError> =>
  Either.try({
    try: read,
    catch: (cause) => {
      if (cause instanceof OpenApiError) return cause
      // The functions recurse into the document. This error means that the document is nested too deeply for the stack.
      if (cause instanceof RangeError && /call stack/.test(cause.message)) {
        return new OpenApiError({ pointer, problem: "is nested too deeply" })
      }
      throw cause
    }
  })

export const make = (root: unknown): Document => {
  if (!ForeignJson.isObject(root)) {
    return refuse("", typeof root === "string" ? "is text: parse the JSON or YAML first" : "is not an object")
  }
  if (root.swagger !== undefined) {
    return refuse(
      "/swagger",
      "is of Swagger 2.0, which is not supported: convert the document to OpenAPI 3 first, for example with " +
        "`npx swagger2openapi swagger.json --outfile openapi.json`"
    )
  }
  // In YAML, a version such as 3.1 without quotes is a number.
  const version = typeof root.openapi === "number" ? String(root.openapi) : root.openapi
  if (typeof version !== "string") return refuse("", "has no \"openapi\" with its version")
  if (!/^3(\.[012](\.|$)|$)/.test(version)) {
    return refuse("/openapi", `names a version that is not supported: ${shown(version)}`)
  }
  return { root, isOld: /^3(\.0|$)/.test(version) }
}

export const key = (name: string | number): string => String(name).replaceAll("~", "~0").replaceAll("/", "~1")

/** Returns a member of a part; `undefined` when the part does not have the member. Throws when the member is not an object. */
export const member = ({ pointer, value }: Part, name: string): Part | undefined => {
  const inner = value[name]
  if (inner === undefined) return undefined
  const at = `${pointer}/${key(name)}`
  return ForeignJson.isObject(inner) ? { value: inner, pointer: at } : refuse(at, "is not an object")
}

/** Returns all members of a part, without extensions (`x-`). Throws when a member is not an object. */
export const members = (at: Part | undefined): ReadonlyArray<readonly [string, Part]> =>
  at === undefined
    ? []
    : Object.keys(at.value).filter((name) => !name.startsWith("x-")).map((name) => [name, member(at, name)!])

/** Returns the elements of a list in a part; an empty list when the list is missing. Throws when an element is not an object. */
export const elements = ({ pointer, value }: Part, name: string): ReadonlyArray<Part> => {
  const list = value[name]
  if (list === undefined) return []
  const at = `${pointer}/${key(name)}`
  return Array.isArray(list)
    ? list.map((one, index) =>
      ForeignJson.isObject(one)
        ? { value: one, pointer: `${at}/${index}` }
        : refuse(`${at}/${index}`, "is not an object")
    )
    : refuse(at, "is not a list")
}

const MAX_REFERENCES = 100

/**
 * Returns the target of a part that is a reference, and any other part itself. When the target is again a reference, follows this
 * reference, too. Throws after `MAX_REFERENCES` references.
 */
export const resolve = (document: Document, at: Part): Part => {
  let found = at
  for (let count = 0; found.value.$ref !== undefined; count++) {
    if (count === MAX_REFERENCES) return refuse(at.pointer, "refers to itself")
    found = lookUp(document, found.value.$ref, found.pointer)
  }
  return found
}

/** Returns the part to which a reference points. `pointer` is the JSON pointer of the part with the reference. */
export const lookUp = ({ root }: Document, reference: unknown, pointer: string): Part => {
  if (typeof reference !== "string") {
    return refuse(`${pointer}/$ref`, `must be a string${typeof reference === "number" ? `, and is ${reference}` : ""}`)
  }
  if (!reference.startsWith("#")) {
    return refuse(
      `${pointer}/$ref`,
      `refers to another document, ${shown(reference)}: nothing is fetched, so bundle the documents into one first`
    )
  }
  const value = ForeignJson.target(root, reference)
  return value === undefined
    ? refuse(`${pointer}/$ref`, `refers to ${shown(reference)}, which is not in the document`)
    : { value, pointer: reference.slice(1) }
}

export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

export const shown = (value: string): string => JSON.stringify(value.slice(0, 200))

/**
 * Returns the base URL of requests. This is the option `baseUrl` (`given`). Without this option it is the URL of the operation's own server
 * (`own`), and otherwise the URL of the first server of the document.
 */
export const baseOf = (document: Document, given: string | undefined, own?: Part | undefined): URL => {
  if (given !== undefined) return checkedUrl(given, "", "the option \"baseUrl\"")
  const server = own ?? elements({ value: document.root, pointer: "" }, "servers")[0]
  const url = text(server?.value.url)
  if (server === undefined || url === undefined) {
    return refuse("/servers", "names no server: give the option \"baseUrl\"")
  }
  const variables = new Map(members(member(server, "variables")))
  const filled = url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = variables.get(name)?.value.default
    return typeof value === "string"
      ? value
      : refuse(server.pointer, `has no default for the variable {${name.slice(0, 100)}} of its URL`)
  })
  return checkedUrl(filled, `${server.pointer}/url`, "the URL of the server")
}

const checkedUrl = (text: string, pointer: string, what: string): URL => {
  if (!URL.canParse(text)) {
    return refuse(
      pointer,
      `needs an absolute URL, and ${what} is ${shown(text)}: give the option "baseUrl"`
    )
  }
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
    ? url
    : refuse(pointer, `needs a URL of http or https without a user; ${what} is not such a URL`)
}
