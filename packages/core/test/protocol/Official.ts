/**
 * The official schemas as predicates, read from `@effect-mcp/testing`. Where they are known to be too narrow they are
 * widened here.
 *
 * Nothing here uses the vocabulary of this package.
 */
import type { Version } from "@effect-mcp/core/protocol/Version"
import { Ajv } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../../testing/src/schema/", import.meta.url))

interface Node {
  [key: string]: unknown
}

const isNode = (u: unknown): u is Node => typeof u === "object" && u !== null && !Array.isArray(u)

const documents = new Map<string, Node>()

/** The definitions of a revision, by name. */
export const definitions = (version: Version): Readonly<Record<string, Node>> => {
  let document = documents.get(version)
  if (document === undefined) {
    document = JSON.parse(readFileSync(`${folder}${version}.json`, "utf8")) as Node
    documents.set(version, widened(document))
  }
  return (document.$defs ?? document.definitions) as Record<string, Node>
}

/**
 * The JSON Schemas are generated from TypeScript, the source of truth, and are too narrow in two places: the number in
 * an answer to a form may have a fraction, and JSON has `null` and fractions.
 */
const widened = (document: Node): Node => {
  const all = (document.$defs ?? document.definitions) as Record<string, Node>
  const content = ((all.ElicitResult?.properties as Node | undefined)?.content as Node | undefined)
    ?.additionalProperties as Node | undefined
  for (const type of [content, ...((content?.anyOf ?? []) as Array<Node>)]) {
    if (Array.isArray(type?.type)) type.type = type.type.map((name: unknown) => name === "integer" ? "number" : name)
  }
  if (all.JSONValue !== undefined) Object.assign(all, { JSONValue: {}, JSONObject: { type: "object" } })
  return document
}

/** The methods of a union of the schema, such as `ClientRequest`; none when the revision has no such union. */
export const methodsOf = (version: Version, union: string): ReadonlyArray<string> => {
  const all = definitions(version)
  const found = all[union]
  if (found === undefined) return []
  const members = (found.anyOf as Array<Node> | undefined)?.map(({ $ref }) => all[String($ref).split("/").at(-1)!]!) ??
    [found]
  return members.map((member) => ((member.properties as Node).method as Node).const as string)
}

/** The name of the definition of a method's request or notification. */
export const definitionOf = (version: Version, method: string): string | undefined =>
  Object.entries(definitions(version)).find(([, { properties }]) =>
    isNode(properties) && isNode(properties.method) && properties.method.const === method
  )?.[0]

/** The name of the definition of a method's result. */
export const resultOf = (version: Version, method: string): string => {
  const name = definitionOf(version, method)!.replace(/Request$/, "Result")
  return definitions(version)[name] === undefined ? "EmptyResult" : name
}

/**
 * How the schema is applied. `closed`: unknown members are errors, to see that a revision receives nothing it does not
 * know. `formats`: whether strings must have their format.
 */
export interface Reading {
  readonly closed?: boolean
  readonly formats?: boolean
}

type Judge = (value: unknown) => string | undefined

const judges = new Map<string, Judge>()
const compilers = new Map<string, Ajv>()

/** What is wrong with an instance of a definition; `undefined` when nothing is. */
export const judge = (version: Version, name: string, reading: Reading = {}): Judge => {
  const { closed = false, formats = true } = reading
  const key = `${version} ${closed} ${formats}`
  let found = judges.get(`${key} ${name}`)
  if (found === undefined) {
    let ajv = compilers.get(key)
    if (ajv === undefined) {
      ajv = version < "2025-11-25" ? new Ajv({ strict: false }) : new Ajv2020({ strict: false }) as unknown as Ajv
      addFormats.default(ajv, { mode: "full" })
      if (!formats) { for (const format of ["uri", "uri-template", "byte"]) ajv.addFormat(format, true) }
      const all = definitions(version)
      ajv.addSchema({ definitions: rewritten(closed ? closedOf(all) : all) }, "official")
      compilers.set(key, ajv)
    }
    const validate = ajv.compile({ $ref: `official#/definitions/${name}` })
    const compiler = ajv
    found = (value) =>
      validate(value) ? undefined : `${name} of ${version}: ${compiler.errorsText(validate.errors, { dataVar: "" })}`
    judges.set(`${key} ${name}`, found)
  }
  return found
}

const rewritten = (node: unknown): unknown =>
  JSON.parse(JSON.stringify(node).replaceAll("\"#/$defs/", "\"#/definitions/")) as unknown

/** Objects that the text of the specification leaves open, whatever the schema has. */
const open = /Meta(?:Object)?$|^_meta$|Capabilities$|^(?:inputSchema|outputSchema)$/

const closedOf = (all: Readonly<Record<string, Node>>): unknown => {
  const close = (node: unknown, name: string): unknown => {
    if (Array.isArray(node)) return node.map((one) => close(one, ""))
    if (!isNode(node) || open.test(name)) return node
    if (Array.isArray(node.allOf)) return close(merged(node.allOf as Array<Node>), name)
    const copy: Node = {}
    for (const [key, value] of Object.entries(node)) {
      copy[key] = key === "properties"
        ? Object.fromEntries(Object.entries(value as Node).map(([field, type]) => [field, close(type, field)]))
        : close(value, "")
    }
    if (!isNode(copy.properties) || node.additionalProperties !== undefined) return copy
    const { properties } = copy
    // Before 2025-11-25 the members of the message and `_meta` are defined once for all messages.
    const more = name === "params" ? { _meta: {} } : properties.method === undefined ? {} : { jsonrpc: {}, id: {} }
    return { ...copy, properties: { ...more, ...properties }, additionalProperties: false }
  }
  const merged = (parts: ReadonlyArray<Node>): Node => {
    const types = parts.map(({ $ref, ...rest }) => $ref === undefined ? rest : all[String($ref).split("/").at(-1)!]!)
    return {
      type: "object",
      properties: Object.assign({}, ...types.map(({ properties }) => properties)) as Node,
      required: [...new Set(types.flatMap(({ required }) => (required ?? []) as Array<string>))]
    }
  }
  return Object.fromEntries(Object.entries(all).map(([name, node]) => [name, close(node, name)]))
}

/** The official example messages of 2026-07-28: the name of their definition, their file, and their value. */
export const examples = (): ReadonlyArray<readonly [type: string, file: string, value: unknown]> =>
  readdirSync(`${folder}examples`).flatMap((type) =>
    readdirSync(`${folder}examples/${type}`).map((file) =>
      [type, file, JSON.parse(readFileSync(`${folder}examples/${type}/${file}`, "utf8")) as unknown] as const
    )
  )
