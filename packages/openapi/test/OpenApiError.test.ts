import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as OpenApi from "@effect-mcp/openapi/OpenApi"
import type { OpenApiError } from "@effect-mcp/openapi/OpenApiError"
import { Cause, Chunk, Effect, Exit } from "effect"
import { petstore } from "./Petstore.js"

/** A document with one operation. */
const one = (operation: JsonObject, path = "/a", more: JsonObject = {}) => ({
  openapi: "3.1.0",
  paths: { [path]: { get: { operationId: "one", responses: {}, ...operation } } },
  ...more
})

describe("An OpenAPI document that cannot be used", () => {
  const parameters = (...parameters: ReadonlyArray<unknown>) => one({ parameters })
  const cases: ReadonlyArray<readonly [what: string, document: unknown, pointer: string, problem: string]> = [
    ["is text", "openapi: 3.1.0", "", "is text: parse the JSON or YAML first"],
    ["is a list", [], "", "is not an object"],
    ["is of Swagger 2.0", { swagger: "2.0", paths: {} }, "/swagger", "is of Swagger 2.0, which is not supported"],
    ["has no version", { paths: {} }, "", "has no \"openapi\" with its version"],
    [
      "is of another version",
      { openapi: "4.0.0", paths: {} },
      "/openapi",
      "names a version that is not supported: \"4.0.0\""
    ],
    ["has no paths", { openapi: "3.1.0" }, "", "has no \"paths\""],
    ["has a path that is none", { openapi: "3.1.0", paths: { a: {} } }, "/paths/a", "is not a path"],
    [
      "has an operation that is none",
      { openapi: "3.1.0", paths: { "/a": { get: 7 } } },
      "/paths/~1a/get",
      "is not an object"
    ],
    ["has parameters that are no list", one({ parameters: {} }), "/paths/~1a/get/parameters", "is not a list"],
    [
      "has a parameter without a name",
      parameters({ in: "query" }),
      "/paths/~1a/get/parameters/0",
      "without a \"name\""
    ],
    ["has a parameter without a place", parameters({ name: "a" }), "/paths/~1a/get/parameters/0/in", "is none of"],
    [
      "has a parameter of another style",
      parameters({ name: "a", in: "query", style: "simple" }),
      "/paths/~1a/get/parameters/0/style",
      "is none of the styles of a parameter in \"query\": form, spaceDelimited, pipeDelimited, deepObject"
    ],
    [
      "has a path without its parameter",
      one({}, "/a/{id}"),
      "/paths/~1a~1{id}/get",
      "has no parameter for {id} of its path"
    ],
    [
      "refers to nothing",
      parameters({ $ref: "#/components/parameters/None" }),
      "/paths/~1a/get/parameters/0/$ref",
      "which is not in the document"
    ],
    [
      "refers to another document",
      parameters({ name: "a", in: "query", schema: { $ref: "other.yaml#/A" } }),
      "/paths/~1a/get/parameters/0/schema/$ref",
      "refers to another document, \"other.yaml#/A\": nothing is fetched, so bundle the documents into one first"
    ],
    [
      "refers to itself",
      one({ parameters: [{ $ref: "#/components/parameters/A" }] }, "/a", {
        components: { parameters: { A: { $ref: "#/components/parameters/A" } } }
      }),
      "/paths/~1a/get/parameters/0",
      "refers to itself"
    ],
    [
      "has a body without a media type",
      one({ requestBody: {} }),
      "/paths/~1a/get/requestBody/content",
      "names no media type"
    ]
  ]
  for (const [what, document, pointer, problem] of cases) {
    it.effect(`is refused with the place and the reason: it ${what}`, () =>
      Effect.gen(function*() {
        const error: OpenApiError = yield* Effect.flip(OpenApi.make(document, { baseUrl: "https://example.com" }))
        assert.strictEqual(error.pointer, pointer)
        assert.include(error.problem, problem)
        assert.include(error.message, pointer)
      }))
  }

  it.effect("is refused without an absolute URL of http or https for its server", () =>
    Effect.gen(function*() {
      const of = (servers: unknown, baseUrl?: string) =>
        Effect.map(Effect.flip(OpenApi.make({ ...one({}), servers }, { baseUrl })), ({ message }) => message)
      assert.include(yield* of(undefined), "names no server: give the option \"baseUrl\"")
      assert.include(yield* of([{ url: "/v1" }]), "at \"/servers/0/url\", needs an absolute URL")
      assert.include(yield* of([{ url: "https://{host}/" }]), "has no default for the variable {host}")
      assert.include(yield* of([], "file:///etc/passwd"), "needs a URL of http or https")
      assert.include(yield* of([], "https://user:secret@example.com"), "without a user")
      assert.notInclude(yield* of([], "https://user:secret@example.com"), "secret")
    }))

  it.effect("is nested deeper than it can be read", () =>
    Effect.gen(function*() {
      const schema = Array.from({ length: 50_000 }).reduce<JsonObject>((items) => ({ type: "array", items }), {})
      const error = yield* Effect.flip(OpenApi.make(parameters({ name: "a", in: "query", schema })))
      assert.strictEqual(error.problem, "is nested too deeply")
    }))

  it.effect("never throws anything else, whatever part of it is something else", () =>
    Effect.gen(function*() {
      const { "/pet/{petId}": pet, "/store/order": order } = petstore.paths
      const document = { ...petstore, paths: { "/pet/{petId}": pet, "/store/order": order } }
      const paths = placesOf(document)
      const values = [null, 7, [], {}, { $ref: 7 }, [null], { in: "constructor" }]
      for (const path of paths) {
        for (const value of values) {
          const exit = yield* Effect.exit(
            OpenApi.make(replaced(document, path, value), { baseUrl: "https://example.com", outputs: false })
          )
          const defects = Exit.isFailure(exit) ? Chunk.toReadonlyArray(Cause.defects(exit.cause)) : []
          assert.deepStrictEqual(defects, [], `${path.join("/")} is ${JSON.stringify(value)}`)
        }
      }
    }))
})

/** The paths of all parts of a document. */
const placesOf = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value === "object" && value !== null
    ? [path, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, key]))]
    : [path]

const replaced = (value: unknown, [key, ...rest]: ReadonlyArray<string>, by: unknown): unknown =>
  key === undefined
    ? by
    : Array.isArray(value)
    ? value.map((item, index) => String(index) === key ? replaced(item, rest, by) : item)
    : { ...(value as object), [key]: replaced((value as JsonObject)[key], rest, by) }
