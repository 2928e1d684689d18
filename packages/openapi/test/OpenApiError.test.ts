import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as OpenApi from "@effect-mcp/openapi/OpenApi"
import type { OpenApiError } from "@effect-mcp/openapi/OpenApiError"
import { Array as Arr, Cause, Chunk, Effect, Exit, Layer, Logger } from "effect"
import { petstore } from "./Petstore.js"
import { client } from "./Serving.js"

/** A document with one operation. */
const one = (operation: JsonObject, path = "/a", more: JsonObject = {}) => ({
  openapi: "3.1.0",
  paths: { [path]: { get: { operationId: "one", responses: {}, ...operation } } },
  ...more
})

describe("An OpenAPI document that cannot be used", () => {
  const cases: ReadonlyArray<readonly [what: string, document: unknown, pointer: string, problem: string]> = [
    ["is text", "openapi: 3.1.0", "", "is text: parse the JSON or YAML first"],
    ["is a list", [], "", "is not an object"],
    [
      "is of Swagger 2.0",
      { swagger: "2.0", paths: {} },
      "/swagger",
      "is of Swagger 2.0, which is not supported: convert the document to OpenAPI 3 first, for example with `npx swagger2openapi "
    ],
    ["has no version", { paths: {} }, "", "has no \"openapi\" with its version"],
    [
      "is of another version",
      { openapi: "4.0.0", paths: {} },
      "/openapi",
      "names a version that is not supported: \"4.0.0\""
    ],
    ["has no paths", { openapi: "3.1.0" }, "", "has no \"paths\""]
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

describe("An OpenAPI document with a part that cannot be used", () => {
  const parameters = (...parameters: ReadonlyArray<unknown>) => one({ parameters })
  const deep = Array.from({ length: 50_000 }).reduce<JsonObject>((items) => ({ type: "array", items }), {})
  const cases: ReadonlyArray<readonly [what: string, document: JsonObject, pointer: string, problem: string]> = [
    ["has a path that is none", { openapi: "3.1.0", paths: { a: {} } }, "/paths/a", "is not a path"],
    [
      "has an operation that is none",
      { openapi: "3.1.0", paths: { "/a": { get: 7 } } },
      "/paths/~1a/get",
      "is not an object"
    ],
    ["has parameters that are not a list", one({ parameters: {} }), "/paths/~1a/get/parameters", "is not a list"],
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
    ],
    [
      "has a parameter in its body, as in Swagger 2.0",
      parameters({ name: "a", in: "body", schema: {} }),
      "/paths/~1a/get/parameters/0/in",
      "is none of \"path\", \"query\", \"header\" and \"cookie\""
    ],
    [
      "has a path that refers to nothing",
      { openapi: "3.1.0", paths: { "/a": { $ref: "#/components/pathItems/None" } } },
      "/paths/~1a/$ref",
      "which is not in the document"
    ],
    [
      "refers to a schema that refers to nothing",
      one({ parameters: [{ name: "a", in: "query", schema: { $ref: "#/components/schemas/A" } }] }, "/a", {
        components: { schemas: { A: { properties: { b: { $ref: "#/components/schemas/None" } } } } }
      }),
      "/components/schemas/A/properties/b/$ref",
      "which is not in the document"
    ],
    [
      "has a server of its own without a host",
      one({ servers: [{ url: "https://{host}/" }] }),
      "/paths/~1a/get/servers/0",
      "has no default for the variable {host}"
    ],
    [
      "is nested deeper than it can be read",
      parameters({ name: "a", in: "query", schema: deep }),
      "/paths/~1a/get/parameters/0/schema",
      "is nested too deeply"
    ]
  ]
  for (const [what, document, pointer, problem] of cases) {
    it.effect(`has the tools of the other operations, and the reason why one is skipped: it ${what}`, () =>
      Effect.gen(function*() {
        const good = { get: { operationId: "good", responses: {} } }
        const { skipped, tools } = yield* OpenApi.make({
          servers: [{ url: "https://example.com" }],
          ...document,
          paths: { "/before": good, ...document.paths as JsonObject, "/after": good }
        })
        assert.deepStrictEqual(tools.map(({ definition }) => definition.name), ["good", "good_2"])
        assert.strictEqual(skipped.length, 1)
        assert.include(skipped[0]!.reason, `has a part that cannot be read: "${pointer}" `)
        assert.include(skipped[0]!.reason, problem)
      }))
  }

  it.effect("reads a schema that cannot be read once, and skips each operation that leads to the schema", () =>
    Effect.gen(function*() {
      const body = (name: string) => ({
        post: { requestBody: { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } } }
      })
      const { skipped, tools } = yield* OpenApi.make({
        openapi: "3.0.0",
        servers: [{ url: "https://example.com" }],
        paths: { "/a": body("A"), "/b": body("B"), "/c": body("C"), "/d": body("A") },
        components: {
          schemas: {
            A: { properties: { b: { $ref: "#/components/schemas/B" }, c: { $ref: "#/components/schemas/C" } } },
            B: { items: { $ref: "other.yaml" } },
            C: { type: "object", properties: { c: { $ref: "#/components/schemas/C" } } }
          }
        }
      })
      assert.deepStrictEqual(tools.map(({ operation }) => operation.path), ["/c"])
      assert.deepStrictEqual(skipped.map(({ operation }) => operation.path), ["/a", "/b", "/d"])
      for (const { reason } of skipped) {
        assert.include(reason, "\"/components/schemas/B/items/$ref\" refers to another document")
      }
    }))

  it.effect("has a tool with a text as its answer where only the schema of the answer cannot be read", () =>
    Effect.gen(function*() {
      const content = { "application/json": { schema: { $ref: "#/components/schemas/None" } } }
      const { skipped, tools } = yield* OpenApi.make(
        one({ responses: { 200: { content } } }),
        { baseUrl: "https://example.com" }
      )
      assert.deepStrictEqual(skipped, [])
      assert.isUndefined(tools[0]!.definition.advertised.outputSchema)
    }))

  it.effect("is a warning in the log of its server for each path and operation that is left out", () =>
    Effect.scoped(Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        logged.push(Arr.ensure(message)[0])
      })
      const document = {
        openapi: "3.1.0",
        servers: [{ url: "https://example.com" }],
        paths: { "/a/{id}": { get: {} }, "/b": { $ref: "b.yaml" }, "/c": { get: {} } }
      }
      const session = yield* client(
        OpenApi.layer(document).pipe(
          Layer.provide([FetchHttpClient.layer, Logger.replace(Logger.defaultLogger, logger)]),
          Layer.orDie
        )
      )
      assert.deepStrictEqual((yield* session.listTools()).tools.map(({ name }) => name), ["get_c"])
      assert.deepStrictEqual(logged.map((text) => String(text).split(" is left out")[0]), [
        "The operation \"get /a/{id}\"",
        "The path \"/b\""
      ])
    })))

  it.effect("may have its version as a number, as YAML reads it without quotes", () =>
    Effect.gen(function*() {
      for (const openapi of [3.1, "3.1", 3]) {
        const { tools } = yield* OpenApi.make({ ...one({}), openapi }, { baseUrl: "https://example.com" })
        assert.strictEqual(tools.length, 1)
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
