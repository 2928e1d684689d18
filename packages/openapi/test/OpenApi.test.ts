import { assert, describe, it } from "@effect/vitest"
import * as ModelSchema from "@effect-mcp/ai/ModelSchema"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as OpenApi from "@effect-mcp/openapi/OpenApi"
import { Effect, Either } from "effect"
import { petstore } from "./Petstore.js"

const tools = <R = never>(document: unknown, options: OpenApi.Options<R> = {}) =>
  Effect.map(
    OpenApi.make(document, { baseUrl: "https://example.com", ...options }),
    ({ tools }) => new Map(tools.map(({ definition }) => [definition.name, definition.advertised]))
  )

/** A document with one operation. */
const one = (operation: JsonObject, path = "/a", more: JsonObject = {}) => ({
  openapi: "3.1.0",
  paths: { [path]: { get: { operationId: "one", responses: {}, ...operation } } },
  ...more
})

const small = {
  content: { "application/json": { schema: { type: "object", properties: { a: { type: "string" } } } } }
}

describe("The tools of an OpenAPI document", () => {
  it.effect("have the names, descriptions and hints of its operations", () =>
    Effect.gen(function*() {
      const all = yield* tools(petstore)
      assert.deepStrictEqual([...all.keys()], [
        "updatePet",
        "addPet",
        "findPetsByStatus",
        "getPetById",
        "deletePet",
        "get_pet_petId_photo",
        "put_pet_petId_photo",
        "uploadPhoto",
        "placeOrder"
      ])
      assert.deepInclude(all.get("addPet"), {
        title: "Add a pet",
        description: "Add a pet\n\nThe store gives it an id.",
        annotations: { readOnlyHint: false }
      })
      assert.strictEqual(
        all.get("findPetsByStatus")?.description,
        "Deprecated.\n\nSeveral statuses are separated by commas."
      )
      assert.deepStrictEqual(all.get("getPetById")?.annotations, { readOnlyHint: true })
      assert.deepStrictEqual(all.get("deletePet")?.annotations, { readOnlyHint: false, idempotentHint: true })
      assert.deepStrictEqual(all.get("updatePet")?.annotations, { readOnlyHint: false, idempotentHint: true })
    }))

  it.effect("have JSON Schemas of draft 2020-12, with what a client writes and what it reads", () =>
    Effect.gen(function*() {
      const all = yield* tools(petstore)
      const pet = {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string", minLength: 1 },
          weight: { type: ["number", "null"], exclusiveMinimum: 0 },
          size: { type: ["string", "null"], enum: ["small", "large", null] },
          status: { type: "string", enum: ["available", "sold"], default: "available" },
          secret: { type: "string" },
          parent: { $ref: "#/$defs/Pet" },
          category: { allOf: [{ $ref: "#/$defs/Category" }] }
        }
      }
      // Without the patterns that have no linear run.
      const category = {
        type: "object",
        properties: {
          name: { type: "string" },
          code: { type: "string" },
          slug: { type: "string", pattern: "^([a-z]+)+$" }
        }
      }
      assert.deepStrictEqual<unknown>(all.get("addPet")?.inputSchema, {
        type: "object",
        properties: { body: { $ref: "#/$defs/Pet", description: "The pet." } },
        required: ["body"],
        additionalProperties: false,
        $defs: { Pet: pet, Category: category }
      })
      const { secret: _, ...readable } = pet.properties
      assert.deepStrictEqual<unknown>(all.get("addPet")?.outputSchema?.$defs, {
        Pet: {
          type: "object",
          required: ["id", "name"],
          properties: { id: { type: "integer", format: "int64" }, ...readable }
        },
        Category: category
      })
      assert.strictEqual(all.get("addPet")?.outputSchema?.type, "object")
      assert.strictEqual(all.get("findPetsByStatus")?.outputSchema?.type, "array")
      assert.deepStrictEqual<unknown>(all.get("deletePet")?.inputSchema.properties, {
        petId: { type: "string", description: "The id of the pet." },
        X_Request_ID: { type: "string" }
      })
      for (const definition of all.values()) {
        for (const dialect of ["openai", "anthropic", "gemini"] as const) {
          assert.isTrue(Either.isRight(ModelSchema.make(definition.inputSchema, dialect)))
        }
      }
    }))

  it.effect("are chosen, named and described by the application", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([...(yield* tools(petstore, { tags: ["store"] })).keys()], ["placeOrder"])
      const named = yield* tools(petstore, {
        name: ({ id, method, path }) => path.startsWith("/store") ? undefined : `pets.${id ?? method}`,
        describe: ({ method }) => method === "delete" ? { description: "Gone.", annotations: {} } : {}
      })
      assert.include([...named.keys()], "pets_getPetById")
      assert.include([...named.keys()], "pets_get")
      assert.notInclude([...named.keys()].join(), "Order")
      assert.deepInclude(named.get("pets_deletePet"), { description: "Gone.", annotations: {} })
      const short = yield* tools(petstore, { maxDescription: 8 })
      assert.strictEqual(short.get("addPet")?.description, "Add a p…")
    }))

  it.effect("have unique names that models accept", () =>
    Effect.gen(function*() {
      const get = (operationId: string) => ({ get: { operationId, responses: {} } })
      const all = yield* tools({
        openapi: "3.1.0",
        paths: { "/a": get("list/all"), "/b": get("list all"), "/c": get("x".repeat(80)), "/d": get("list_all") }
      })
      assert.deepStrictEqual([...all.keys()].slice(0, 2), ["list_all", "list_all_2"])
      for (const name of all.keys()) assert.match(name, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
      assert.strictEqual(all.size, 4)
    }))

  it.effect("have an argument for each parameter, also where two have one name or a name that models cannot write", () =>
    Effect.gen(function*() {
      const parameters = [
        { name: "id", in: "path", required: true, schema: { type: "string" } },
        { name: "id", in: "query", schema: { type: "string" } },
        { name: "filter[name]", in: "query", schema: { type: "string" } },
        { name: "filter.name", in: "query", schema: { type: "string" } },
        { name: "$top", in: "query", schema: { type: "integer" } },
        { name: "2fa", in: "header", schema: { type: "string" } },
        { name: "body", in: "query", schema: { type: "string" } }
      ]
      const all = yield* tools(one({ parameters, requestBody: { content: { "application/json": {} } } }, "/a/{id}"))
      const { properties } = all.get("one")!.inputSchema
      assert.deepStrictEqual(Object.keys(properties as object), [
        "id",
        "query_id",
        "filter_name",
        "query_filter_name",
        "top",
        "_2fa",
        "body",
        "body_body"
      ])
    }))

  it.effect("are those of a large document, each with only the schemas that it needs", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 150 }, (_, n) => `Thing${n}`)
      const document = {
        openapi: "3.0.0",
        servers: [{ url: "https://{region}.example.com/v1", variables: { region: { default: "eu" } } }],
        paths: Object.fromEntries(names.flatMap((name, n) => [
          [`/${name}`, {
            get: {
              operationId: `list${name}`,
              parameters: [{ name: "page", in: "query", schema: { type: "integer", default: 1 } }],
              responses: {
                "200": {
                  content: {
                    "application/json": { schema: { type: "array", items: { $ref: `#/components/schemas/${name}` } } }
                  }
                }
              }
            },
            post: {
              operationId: `create${name}`,
              requestBody: { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } },
              responses: {
                "201": { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } }
              }
            }
          }],
          [`/${name}/{id}`, {
            parameters: [{ name: "id", in: "path", schema: { type: "string" } }],
            get: { operationId: `get${name}`, responses: {} },
            delete: { operationId: `delete${name}`, responses: {} },
            patch: { operationId: `patch${n}` }
          }]
        ])),
        components: {
          schemas: Object.fromEntries(names.map((name, n) => [name, {
            type: "object",
            properties: {
              name: { type: "string" },
              next: { $ref: `#/components/schemas/Thing${n % 10 === 9 ? n - 9 : n + 1}` }
            }
          }]))
        }
      }
      const { skipped, tools } = yield* OpenApi.make(document)
      assert.strictEqual(tools.length, 750)
      assert.deepStrictEqual(skipped, [])
      for (const { definition } of tools) {
        assert.isAtMost(Object.keys(definition.advertised.inputSchema.$defs ?? {}).length, 10)
      }
    }))

  it.effect("are read where all schemas of a large document lead to each other", () =>
    Effect.gen(function*() {
      const size = 2_000
      const thing = (n: number) => ({
        type: "object",
        properties: {
          next: { $ref: `#/components/schemas/S${(n + 1) % size}` },
          other: { $ref: `#/components/schemas/S${(n * 7) % size}` }
        }
      })
      const schemas = Object.fromEntries(Array.from({ length: size }, (_, n) => [`S${n}`, thing(n)]))
      const content = (n: number) => ({ "application/json": { schema: { $ref: `#/components/schemas/S${n}` } } })
      const operation = (n: number) => ({ operationId: `op${n}`, responses: { 200: { content: content(n) } } })
      const paths = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`/${n}`, { get: operation(n) }]))
      const { tools } = yield* OpenApi.make({
        openapi: "3.1.0",
        servers: [{ url: "https://example.com" }],
        paths: { ...paths, "/small": { get: { ...operation(0), operationId: "small", responses: { 200: small } } } },
        components: { schemas }
      })
      assert.strictEqual(tools.length, 101)
      const schemaOf = (name: string) =>
        tools.find(({ definition }) => definition.name === name)!.definition.advertised.outputSchema
      // It would repeat the document.
      assert.isUndefined(schemaOf("op0"))
      assert.deepInclude(schemaOf("small"), { type: "object" })
    }))

  const linked = (schemas: number, operations: number, bytes: number) => {
    const thing = (n: number) => ({
      type: "object",
      description: "x".repeat(bytes / schemas - 150),
      properties: { next: { $ref: `#/components/schemas/S${(n + 1) % schemas}` }, id: { type: "integer" } }
    })
    const content = { "application/json": { schema: { $ref: "#/components/schemas/S0" } } }
    const operation = (n: number) => ({
      operationId: `op${n}`,
      requestBody: { content },
      responses: { 200: { content } }
    })
    return {
      openapi: "3.1.0",
      servers: [{ url: "https://example.com" }],
      paths: Object.fromEntries(Array.from({ length: operations }, (_, n) => [`/${n}`, { post: operation(n) }])),
      components: { schemas: Object.fromEntries(Array.from({ length: schemas }, (_, n) => [`S${n}`, thing(n)])) }
    }
  }

  it.effect("have schemas of limited length together, and cost no time where a document repeats itself", () =>
    Effect.gen(function*() {
      const begin = process.cpuUsage()
      const { skipped, tools } = yield* OpenApi.make(linked(200, 300, 200_000))
      const length = (part: "inputSchema" | "outputSchema") =>
        tools.reduce((sum, { definition }) => sum + JSON.stringify(definition.advertised[part] ?? "").length, 0)
      assert.isBelow(length("inputSchema"), 17 * 1024 * 1024)
      assert.isBelow(length("outputSchema"), 9 * 1024 * 1024)
      assert.isAbove(tools.length, 50)
      assert.strictEqual(tools.length + skipped.length, 300)
      assert.include(skipped[0]?.reason, "choose operations by the options `tags` and `name`")
      const large = yield* OpenApi.make(linked(2000, 1000, 2_000_000))
      assert.lengthOf(large.skipped, 1000)
      assert.isBelow(process.cpuUsage(begin).user, 30_000_000)
    }))

  it.effect("share their components: a component is converted once in each direction, however many operations use it", () =>
    Effect.gen(function*() {
      const readsBy = (operations: number) =>
        Effect.gen(function*() {
          let reads = 0
          const Pet = {
            type: "object",
            properties: { name: { type: "string" } },
            get description() {
              reads++
              return "A pet"
            }
          }
          const content = { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } }
          const post = { requestBody: { content }, responses: { 200: { content } } }
          const { tools } = yield* OpenApi.make({
            openapi: "3.1.0",
            servers: [{ url: "https://example.com" }],
            paths: Object.fromEntries(Array.from({ length: operations }, (_, n) => [`/${n}`, { post }])),
            components: { schemas: { Pet } }
          })
          assert.lengthOf(tools, operations)
          return reads
        })
      assert.strictEqual(yield* readsBy(1), 2)
      assert.strictEqual(yield* readsBy(100), 2)
    }))

  it.effect("have the server of the document: another origin is named by the application", () =>
    Effect.gen(function*() {
      const responses = {}
      const document = {
        openapi: "3.1.0",
        servers: [{ url: "https://example.com/v1" }],
        paths: {
          "/a": { get: { responses } },
          "/b": { get: { responses, servers: [{ url: "https://evil.example/v1" }] } },
          "/c": { servers: [{ url: "http://example.com/v1" }], get: { responses } },
          "/d": { servers: [{ url: "https://example.com/v2" }], get: { responses } }
        }
      }
      const paths = (options: OpenApi.Options) =>
        Effect.map(OpenApi.make(document, options), ({ tools }) => tools.map(({ operation }) => operation.path))
      assert.deepStrictEqual(yield* paths({}), ["/a", "/d"])
      assert.deepStrictEqual(yield* paths({ origins: ["https://evil.example"] }), ["/a", "/b", "/d"])
      assert.deepStrictEqual(yield* paths({ baseUrl: "https://proxy.example" }), ["/a", "/b", "/c", "/d"])
      const { skipped } = yield* OpenApi.make(document)
      assert.include(skipped[0]?.reason, "has a server of another origin than the document, https://evil.example: name")
    }))

  it.effect("are chosen before they are read: a fault in another one is none", () =>
    Effect.gen(function*() {
      const responses = {}
      const document = {
        openapi: "3.1.0",
        servers: [{ url: "https://example.com" }],
        paths: { "/a": { get: { tags: ["a"], responses } }, "/b": { get: { parameters: 7, responses } } }
      }
      const { skipped, tools } = yield* OpenApi.make(document, { tags: ["a"] })
      assert.deepStrictEqual(tools.map(({ operation }) => operation.path), ["/a"])
      assert.deepStrictEqual(skipped, [])
      assert.deepStrictEqual((yield* OpenApi.make(document)).skipped.map(({ operation }) => operation.path), ["/b"])
    }))
})
