/**
 * The references inside one JSON Schema: `$id`, `$anchor` and `$dynamicAnchor` name parts of it, `$ref`, `$dynamicRef` and
 * `$recursiveRef` lead to parts. Nothing is fetched: what is not in the schema is not found.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { shortened } from "../text/Quoted.js"
import type { Draft } from "./SchemaCheck.js"
import type { Budget } from "./WorkBudget.js"

export type Keyword = "$ref" | "$dynamicRef" | "$recursiveRef"

export interface Target {
  readonly schema: unknown
  /** Schemas that come before it when the check came through them, by their bases. */
  readonly dynamic: ReadonlyMap<string, unknown> | undefined
}

export interface SchemaReferences {
  /** The URI that relative references of this part are resolved against. */
  readonly baseOf: (schema: JsonObject) => string
  /** Left: that the reference leads nowhere, as the end of a sentence whose subject is the schema. */
  readonly find: (keyword: Keyword, reference: unknown, base: string) => Either.Either<Target, string>
}

const byDraft: Readonly<Record<Draft, ReadonlyArray<Keyword>>> = {
  "2020-12": ["$ref", "$dynamicRef"],
  "2019-09": ["$ref", "$recursiveRef"],
  "draft-07": ["$ref"]
}

/** The references of a schema itself. */
export const keywords = (schema: JsonObject, draft: Draft): ReadonlyArray<readonly [Keyword, unknown]> =>
  byDraft[draft].filter((keyword) => Object.hasOwn(schema, keyword)).map((keyword) => [keyword, schema[keyword]])

/** The base of a schema without an `$id`. */
const NO_BASE = "schema://root/"

const resolve = (reference: string, base: string, budget: Budget): string => {
  budget.spend((reference.length + base.length) / 8)
  return URL.canParse(reference, base) ? new URL(reference, base).href : reference
}

const withoutFragment = (uri: string): string => uri.replace(/#.*$/s, "")

// Keywords whose values look like schemas but are none.
const values = new Set(["enum", "const", "default", "examples"])

export const make = (root: JsonObject, draft: Draft, budget: Budget): SchemaReferences => {
  const bases = new Map<unknown, string>()
  const named = new Map<string, unknown>()
  const dynamic = new Map<string, Map<string, unknown>>()

  const visit = (part: unknown, base: string, isMap: boolean): void => {
    if (Array.isArray(part)) return part.forEach((item) => visit(item, base, false))
    if (!Predicate.isRecord(part)) return
    const schema = part as JsonObject
    const own = isMap ? base : name(schema, base)
    bases.set(schema, own)
    for (const [key, value] of Object.entries(schema)) {
      if (isMap || !values.has(key)) visit(value, own, !isMap && maps.has(key))
    }
  }

  /** Remembers the names of a schema, and gives its base. */
  const name = (schema: JsonObject, outer: string): string => {
    const { $anchor, $dynamicAnchor, $id, $recursiveAnchor } = schema
    // In draft-07, what stands beside a reference means nothing.
    const id = typeof $id === "string" && !(draft === "draft-07" && "$ref" in schema)
      ? resolve($id, outer, budget)
      : undefined
    const base = id === undefined || (draft === "draft-07" && id.includes("#") && !id.endsWith("#"))
      ? outer
      : withoutFragment(id)
    if (id !== undefined) named.set(id.replace(/#$/, ""), schema)
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor !== "string") continue
      budget.spend((base.length + anchor.length) / 8)
      named.set(`${base}#${anchor}`, schema)
    }
    const dynamicName = typeof $dynamicAnchor === "string" ? $dynamicAnchor : $recursiveAnchor === true ? "" : undefined
    if (dynamicName !== undefined) {
      const same = dynamic.get(dynamicName) ?? new Map<string, unknown>()
      dynamic.set(dynamicName, same.set(base, schema))
    }
    return base
  }

  const start = name(root, NO_BASE)
  named.set(start, root)
  named.set(NO_BASE, root)
  visit(root, NO_BASE, false)

  const locate = (uri: string): unknown => {
    const [resource = "", fragment = ""] = uri.split(/#(.*)/s)
    if (!fragment.startsWith("/")) return named.get(fragment === "" ? resource : uri)
    return fragment.slice(1).split("/").reduce<unknown>((part, token) => {
      const key = decode(token).replace(/~1/g, "/").replace(/~0/g, "~")
      return typeof part === "object" && part !== null && Object.hasOwn(part, key)
        ? (part as Record<string, unknown>)[key]
        : undefined
    }, named.get(resource))
  }

  return {
    baseOf: (schema) => bases.get(schema) ?? start,
    find: (keyword, reference, base) => {
      const uri = typeof reference === "string" ? resolve(reference, base, budget) : undefined
      const schema = uri === undefined ? undefined : locate(uri)
      if (uri === undefined || schema === undefined) {
        const shown = typeof reference === "string" ? reference : String(Json.stringify(reference))
        return Either.left(`cannot be used: "${keyword}" leads to no part of it: ${shortened(shown)}`)
      }
      const anchor = keyword === "$recursiveRef" ? "" : uri.split("#")[1] ?? ""
      const isDynamic = keyword !== "$ref" && Predicate.isRecord(schema) &&
        (keyword === "$recursiveRef" ? schema["$recursiveAnchor"] === true : schema["$dynamicAnchor"] === anchor)
      return Either.right({ schema, dynamic: isDynamic ? dynamic.get(anchor) : undefined })
    }
  }
}

const decode = (token: string): string => Either.getOrElse(Either.try(() => decodeURIComponent(token)), () => token)

// Keywords whose members are schemas by name.
const maps = new Set(["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"])
