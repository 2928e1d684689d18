import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InvalidParams } from "@effect-mcp/core/protocol/McpError"
import type { CallToolResult } from "@effect-mcp/core/protocol/Tools"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as OpenApi from "@effect-mcp/openapi/OpenApi"
import { Context, Effect, Fiber, Layer, TestClock } from "effect"
import { json, petstore, type Reply, serve } from "./Petstore.js"
import { client, eras } from "./Serving.js"

const text = ({ content }: CallToolResult): string =>
  content.map((one) => one.type === "text" ? one.text : one.type).join("\n")

/** A client of the pet store's tools, and the requests that the API received. */
const store = <R = never>(
  reply: Reply,
  options: OpenApi.Options<R> = {},
  versions: (typeof eras)[number][1] = ["2025-11-25"],
  document: unknown = petstore
) =>
  Effect.gen(function*() {
    const { seen, url } = yield* serve(reply)
    const features = Layer.orDie(OpenApi.layer(document, { baseUrl: url, ...options }))
    const session = yield* client(Layer.provide(features, FetchHttpClient.layer), { versions })
    return {
      seen,
      session,
      call: (name: string, args?: JsonObject) =>
        Effect.map(session.callTool(name, args), (result) => ({ ...result, text: text(result) }))
    }
  })

const rex = { id: 7, name: "Rex", status: "sold" }

/** A document with one operation. */
const one = (operation: JsonObject, path = "/a", more: JsonObject = {}) => ({
  openapi: "3.1.0",
  paths: { [path]: { get: { operationId: "one", responses: {}, ...operation } } },
  ...more
})

describe("A number that is too large for JavaScript", () => {
  it.scopedLive("is an error in an answer, and is not sent as null or Infinity", () =>
    Effect.gen(function*() {
      const { call, seen } = yield* store(
        () => ({ headers: { "content-type": "application/json" }, body: "{\"a\":[1e400]}" }),
        {},
        ["2025-11-25"],
        one({ parameters: [{ name: "n", in: "query", schema: { type: "number" } }] })
      )
      const answered = yield* call("one", { n: 1 })
      assert.isTrue(answered.isError)
      assert.include(answered.text, "The API answered with a number that is too large: {\"a\":[1e400]}")
      const request = OpenApi.make(one({ parameters: [{ name: "n", in: "query" }] }), {
        baseUrl: "https://example.com"
      })
      const { tools } = yield* request
      const refused = yield* Effect.provide(tools[0]!.call({ n: [Infinity] }), FetchHttpClient.layer)
      assert.include(JSON.stringify(refused), "has a number that is too large")
      assert.lengthOf(seen, 1)
    }))
})

for (const [era, versions] of eras) {
  describe(`The operations of an OpenAPI document as tools, in the ${era} era`, () => {
    it.scopedLive("call the API with path, query, headers and body, and give its JSON", () =>
      Effect.gen(function*() {
        const { call, seen } = yield* store(
          ({ method, url }) =>
            method === "DELETE"
              ? { status: 204 }
              : url.includes("findByStatus")
              ? json([rex])
              : url.includes("order")
              ? { headers: { "content-type": "text/plain" }, body: "ordered" }
              : json(rex),
          {},
          versions
        )
        assert.deepStrictEqual((yield* call("getPetById", { petId: "7" })).structuredContent, rex)
        assert.deepStrictEqual((yield* call("addPet", { body: { name: "Rex", weight: null } })).structuredContent, rex)
        const found = yield* call("findPetsByStatus", { status: ["sold", "available"] })
        assert.deepStrictEqual(JSON.parse(found.text), [rex])
        assert.strictEqual(
          (yield* call("deletePet", { petId: "7", X_Request_ID: "abc" })).text,
          "The API answered 204, without content."
        )
        assert.strictEqual(
          (yield* call("placeOrder", { body: { petId: 7, note: "a&b=c", gifts: ["x", "y"] } })).text,
          "ordered"
        )
        assert.deepStrictEqual(seen.map(({ method, url }) => `${method} ${url}`), [
          "GET /api/v3/pet/7",
          "POST /api/v3/pet",
          "GET /api/v3/pet/findByStatus?status=sold,available",
          "DELETE /api/v3/pet/7",
          "POST /api/v3/store/order"
        ])
        assert.deepStrictEqual(JSON.parse(seen[1]!.body.toString()), { name: "Rex", weight: null })
        assert.strictEqual(seen[1]!.headers["content-type"], "application/json")
        assert.strictEqual(seen[3]!.headers["x-request-id"], "abc")
        assert.strictEqual(seen[4]!.body.toString(), "petId=7&note=a%26b%3Dc&gifts=x&gifts=y")
        assert.strictEqual(seen[4]!.headers["content-type"], "application/x-www-form-urlencoded")
      }))
  })
}

describe("The tools of an OpenAPI document", () => {
  it.scopedLive("send every style of parameters", () =>
    Effect.gen(function*() {
      const list = { type: "array", items: { type: "string" } }
      const object = { type: "object", additionalProperties: { type: "string" } }
      const parameter = (name: string, location: string, schema: object, rest: object = {}) => ({
        name,
        in: location,
        required: location === "path",
        schema,
        ...rest
      })
      const document = one({
        parameters: [
          parameter("simple", "path", list),
          parameter("label", "path", list, { style: "label", explode: true }),
          parameter("matrix", "path", object, { style: "matrix", explode: true }),
          parameter("flat", "path", object, { style: "matrix" }),
          parameter("form", "query", list),
          parameter("members", "query", object),
          parameter("commas", "query", list, { explode: false }),
          parameter("spaces", "query", list, { style: "spaceDelimited", explode: false }),
          parameter("pipes", "query", list, { style: "pipeDelimited", explode: false }),
          parameter("deep", "query", object, { style: "deepObject" }),
          { name: "json", in: "query", content: { "application/json": { schema: object } } },
          parameter("X-List", "header", list),
          parameter("X-Text", "header", { type: "string" }),
          parameter("session", "cookie", { type: "string" }),
          parameter("flag", "query", { type: "boolean" }),
          parameter("none", "query", { type: ["string", "null"] })
        ]
      }, "/a/{simple}/{label}/{matrix}/{flat}")
      const { call, seen } = yield* store(() => json({}), {}, ["2025-11-25"], document)
      yield* call("one", {
        simple: ["a", "b/c"],
        label: ["a", "b"],
        matrix: { k: "v", l: "w" },
        flat: { k: "v" },
        form: ["1", "2"],
        members: { x: "1", y: "2" },
        commas: ["a", "b,c"],
        spaces: ["a", "b"],
        pipes: ["a", "b"],
        deep: { name: "Ada", "a&b": "=" },
        json: { a: "b" },
        X_List: ["a", "b"],
        X_Text: "naïve\r\nX-Evil: 1",
        session: "s; admin=1",
        flag: true,
        none: null
      })
      const [{ headers, url }] = seen as unknown as [(typeof seen)[number]]
      const [path, query] = url.split("?")
      assert.strictEqual(path, "/api/v3/a/a,b%2Fc/.a.b/;k=v;l=w/;flat=k,v")
      assert.deepStrictEqual(query?.split("&"), [
        "form=1",
        "form=2",
        "x=1",
        "y=2",
        "commas=a,b%2Cc",
        "spaces=a%20b",
        "pipes=a%7Cb",
        "deep%5Bname%5D=Ada",
        "deep%5Ba%26b%5D=%3D",
        "json=%7B%22a%22%3A%22b%22%7D",
        "flag=true"
      ])
      assert.strictEqual(headers["x-list"], "a,b")
      assert.strictEqual(headers["x-text"], "na%C3%AFve%0D%0AX-Evil: 1")
      assert.strictEqual(headers["x-evil"], undefined)
      assert.strictEqual(headers.cookie, "session=s%3B%20admin%3D1")
    }))

  it.scopedLive("call the server of the operation, of its path, or of the document, in this order", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* serve(() => json({}))
      const at = (path: string) => ({ servers: [{ url: `${url}${path}` }] })
      const document = {
        openapi: "3.1.0",
        ...at("/document"),
        paths: {
          "/a": { get: { operationId: "a", responses: {} } },
          "/b": { ...at("/path"), get: { operationId: "b", responses: {} }, put: { ...at("/own"), operationId: "c" } }
        }
      }
      const { tools } = yield* OpenApi.make(document)
      for (const { call } of tools) yield* Effect.provide(call({}), FetchHttpClient.layer)
      assert.deepStrictEqual(seen.map(({ method, url }) => `${method} ${url}`), [
        "GET /api/v3/document/a",
        "GET /api/v3/path/b",
        "PUT /api/v3/own/b"
      ])
    }))

  it.scopedLive("send files as a form with parts, or as bytes, and read images", () =>
    Effect.gen(function*() {
      const png = Buffer.from("89504e47", "hex")
      const { call, seen } = yield* store(({ method }) =>
        method === "GET"
          ? { headers: { "content-type": "image/png" }, body: png }
          : { headers: { "content-type": "text/plain" }, body: "ok" }
      )
      const sent = yield* call("uploadPhoto", {
        petId: "7",
        body: { caption: "Rex", file: png.toString("base64"), tags: ["a", "b"] }
      })
      assert.strictEqual(sent.text, "ok")
      const form = yield* Effect.promise(() =>
        new Response(new Uint8Array(seen[0]!.body), { headers: { "content-type": seen[0]!.headers["content-type"]! } })
          .formData()
      )
      assert.strictEqual(form.get("caption"), "Rex")
      assert.deepStrictEqual(form.getAll("tags"), ["a", "b"])
      const file = yield* Effect.promise(() => (form.get("file") as Blob).arrayBuffer())
      assert.deepStrictEqual(Buffer.from(file), png)
      yield* call("put_pet_petId_photo", { petId: "7", body: png.toString("base64") })
      assert.deepStrictEqual(seen[1]!.body, png)
      assert.strictEqual(seen[1]!.headers["content-type"], "application/octet-stream")
      const bad = yield* call("put_pet_petId_photo", { petId: "7", body: "no base64!" })
      assert.isTrue(bad.isError)
      assert.deepStrictEqual((yield* call("get_pet_petId_photo", { petId: "7" })).content, [
        { type: "image", data: png.toString("base64"), mimeType: "image/png" }
      ])
    }))

  it.scopedLive("never leave their path: no argument is another segment, another query, or another host", () =>
    Effect.gen(function*() {
      const { call, seen } = yield* store(() => json(rex))
      const held = [
        ["../store/order", "/api/v3/pet/..%2Fstore%2Forder"],
        ["7?admin=1", "/api/v3/pet/7%3Fadmin%3D1"],
        ["7#x", "/api/v3/pet/7%23x"],
        ["//evil.example", "/api/v3/pet/%2F%2Fevil.example"],
        ["https://evil.example/", "/api/v3/pet/https%3A%2F%2Fevil.example%2F"],
        ["@evil.example", "/api/v3/pet/%40evil.example"],
        ["%2e%2e", "/api/v3/pet/%252e%252e"],
        ["..\\..\\x", "/api/v3/pet/..%5C..%5Cx"],
        ["a\r\nHost: evil.example", "/api/v3/pet/a%0D%0AHost%3A%20evil.example"],
        ["\ud800", "/api/v3/pet/%EF%BF%BD"]
      ] as const
      for (const [petId, url] of held) {
        yield* call("getPetById", { petId })
        assert.strictEqual(seen.at(-1)?.url, url)
      }
      for (const petId of [".", "..", ""]) {
        const refused = yield* call("getPetById", { petId })
        assert.isTrue(refused.isError)
        assert.match(refused.text, /No argument of the path may be|must not be empty/)
      }
      assert.strictEqual(seen.length, held.length)
      const unknown = yield* call("getPetById", { petId: "7", url: "https://evil.example" })
      assert.isTrue(unknown.isError)
      assert.strictEqual(seen.length, held.length)
    }))

  it.scopedLive("complete each request as the application says, with services of the application and of the request", () =>
    Effect.gen(function*() {
      class Tokens extends Context.Tag("Tokens")<Tokens, string>() {}
      const { seen, url } = yield* serve(() => json(rex))
      const features = OpenApi.layer(petstore, {
        baseUrl: url,
        request: (request, { method }) =>
          Effect.gen(function*() {
            if (method === "delete") {
              return yield* Effect.fail(new InvalidParams({ message: "Only the owner deletes pets." }))
            }
            assert.strictEqual((yield* ServerSession.ServerSession).method, "tools/call")
            return HttpClientRequest.bearerToken(request, yield* Tokens)
          })
      })
      const session = yield* client(
        Layer.orDie(features).pipe(Layer.provide(FetchHttpClient.layer), Layer.provide(Layer.succeed(Tokens, "t0ken")))
      )
      yield* session.callTool("getPetById", { petId: "7" })
      assert.strictEqual(seen[0]?.headers.authorization, "Bearer t0ken")
      const refused = yield* session.callTool("deletePet", { petId: "7" })
      assert.isTrue(refused.isError)
      assert.strictEqual(text(refused), "Only the owner deletes pets.")
      assert.strictEqual(seen.length, 1)
    }))

  it.scopedLive("take parameters from the model: a value or nothing is sent, whatever the model writes", () =>
    Effect.gen(function*() {
      const post = {
        operationId: "one",
        responses: {},
        parameters: [
          { name: "tenant", in: "path", required: true },
          { name: "Api-Version", in: "header" },
          { name: "debug", in: "query" },
          { name: "page", in: "query", schema: { type: "integer" } }
        ],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Secret" } } }
        }
      }
      const document = {
        openapi: "3.1.0",
        paths: { "/{tenant}/a": { post } },
        components: { schemas: { Secret: { type: "object", properties: { key: { type: "string" } } } } }
      }
      const { call, seen, session } = yield* store(
        ({ url }) => json({ url }),
        {
          parameter: ({ in: place, isRequired, name }, { id }) => {
            if (name === "tenant") return Effect.map(RequestContext, ({ method }) => `of ${method} ${id}`)
            if (place === "body") return Effect.succeed({ key: `required: ${isRequired}` })
            if (place === "header") return Effect.succeed("2022-06-28")
            return name === "debug" ? Effect.void : undefined
          }
        },
        ["2025-11-25"],
        document
      )
      const { tools } = yield* session.listTools()
      assert.deepStrictEqual(tools[0]!.inputSchema, {
        type: "object",
        properties: { page: { type: "integer" } },
        additionalProperties: false
      })
      yield* call("one", { page: 3 })
      const refused = yield* call("one", { page: 3, tenant: "another", body: { key: "of the model" } })
      assert.isTrue(refused.isError)
      assert.include(refused.text, "tenant")
      const [sent] = seen
      assert.strictEqual(sent!.url, "/api/v3/of%20tools%2Fcall%20one/a?page=3")
      assert.strictEqual(sent!.headers["api-version"], "2022-06-28")
      assert.strictEqual(sent!.body.toString(), "{\"key\":\"required: true\"}")
      assert.lengthOf(seen, 1)
    }))

  it.scopedLive("are not sent where the application fails to give a parameter, or gives none that the API requires", () =>
    Effect.gen(function*() {
      const document = one({ parameters: [{ name: "tenant", in: "path", required: true }] }, "/{tenant}")
      const failing = (value: Effect.Effect<unknown, Error>) =>
        Effect.gen(function*() {
          const { call, seen } = yield* store(() => json({}), { parameter: () => value }, ["2025-11-25"], document)
          const { isError, text } = yield* call("one")
          assert.isTrue(isError)
          assert.lengthOf(seen, 0)
          return text
        })
      const unsent = "The request to the API could not be sent."
      assert.strictEqual(yield* failing(Effect.fail(new Error("the database has a secret"))), unsent)
      assert.strictEqual(yield* failing(Effect.void), unsent)
      assert.strictEqual(yield* failing(new InvalidParams({ message: "You have no tenant." })), "You have no tenant.")
    }))

  it.scopedLive("tell a model in plain words what the API refused", () =>
    Effect.gen(function*() {
      let reply: ReturnType<Reply> = {}
      const { call } = yield* store(() => reply)
      const html = { "content-type": "text/html" }
      const cases: ReadonlyArray<readonly [ReturnType<Reply>, string]> = [
        [{ status: 404 }, "The API has nothing there (404)."],
        [json({ message: "Pet not found" }, 404), "The API has nothing there (404). It says: Pet not found"],
        [
          json({ title: "Bad id", detail: "It is not a number", status: 400 }, 400),
          "The API does not accept this request (400). It says: Bad id: It is not a number"
        ],
        [
          json({ message: "Invalid", errors: [{ field: "name" }] }, 422),
          "The API does not accept these values (422). It says: {\"message\":\"Invalid\",\"errors\":[{\"field\":\"name\"}]}"
        ],
        [
          { status: 401, headers: { "content-type": "text/plain" }, body: "no token" },
          "The API does not accept the credentials of this server (401). It says: no token"
        ],
        [
          { status: 429, headers: { "retry-after": "30" } },
          "The API received too many requests (429). Try again after 30 seconds."
        ],
        [{ status: 500, headers: html, body: "<html>Traceback</html>" }, "The API has a fault (500)."],
        [
          { status: 302, headers: { location: "https://evil.example/" } },
          "The API redirects to another address, which this server does not follow (302)."
        ],
        [
          { headers: { "content-type": "application/json" }, body: "{" },
          "The API answered with text that is not JSON: {"
        ]
      ]
      for (const [given, expected] of cases) {
        reply = given
        const result = yield* call("getPetById", { petId: "7" })
        assert.isTrue(result.isError)
        assert.strictEqual(result.text, expected)
      }
      reply = json({ name: 7 })
      const odd = yield* call("getPetById", { petId: "7" })
      assert.isTrue(odd.isError)
      assert.match(
        odd.text,
        /^The answer of the API does not have the form that its document describes: .*\n\n\{"name":7\}$/s
      )
    }))

  it.scopedLive("give an answer as text, unchecked, where the application wants no output schemas", () =>
    Effect.gen(function*() {
      const { call } = yield* store(() => json({ name: 7 }), { outputs: false })
      const result = yield* call("getPetById", { petId: "7" })
      assert.strictEqual(result.text, "{\"name\":7}")
      assert.isUndefined(result.structuredContent)
    }))

  it.scopedLive("follow redirects of reading to the same origin, and not for ever", () =>
    Effect.gen(function*() {
      const { call, seen } = yield* store(({ url }) =>
        url === "/api/v3/pet/7"
          ? { status: 301, headers: { location: "/api/v3/pet/8" } }
          : url === "/api/v3/pet/9"
          ? { status: 302, headers: { location: "/api/v3/pet/9" } }
          : json(rex)
      )
      assert.deepStrictEqual((yield* call("getPetById", { petId: "7" })).structuredContent, rex)
      assert.include((yield* call("getPetById", { petId: "9" })).text, "does not follow (302)")
      assert.strictEqual(seen.length, 2 + 4)
    }))

  it.scopedLive("read at most so many bytes of an answer, also of one that never ends", () =>
    Effect.gen(function*() {
      const { call } = yield* store(
        ({ url }) =>
          url.includes("order")
            ? { headers: { "content-type": "text/plain" }, body: "x".repeat(5000), hang: true }
            : { headers: { "content-type": "application/json" }, body: JSON.stringify("x".repeat(5000)), hang: true },
        { maxBytes: 1000 }
      )
      const long = yield* call("placeOrder", { body: {} })
      assert.strictEqual(long.text, `${"x".repeat(1000)}\n[the rest is left out: the answer is longer than 1000 bytes]`)
      const result = yield* call("getPetById", { petId: "7" })
      assert.isTrue(result.isError)
      assert.strictEqual(result.text, "The answer of the API is too long: more than 1000 bytes. Request less.")
    }))

  it.scopedLive("send nothing for an argument that is not given, also where every object has a member of its name", () =>
    Effect.gen(function*() {
      const of = (where: string) => ({ name: "constructor", in: where, schema: { type: "string" } })
      const document = one({ parameters: [of("query"), of("header"), of("cookie")] })
      const { call, seen } = yield* store(() => json({}), {}, undefined, document)
      yield* call("one", {})
      yield* call("one", { constructor: "Ferrari" })
      assert.deepStrictEqual(seen.map(({ url }) => url), ["/api/v3/a", "/api/v3/a?constructor=Ferrari"])
      assert.notProperty(seen[0]?.headers, "cookie")
      assert.notInclude(JSON.stringify(seen[0]?.headers), "native code")
    }))

  it.effect("give up when the API does not answer in time, and say when it cannot be reached", () =>
    Effect.gen(function*() {
      const { tools } = yield* OpenApi.make(petstore, { baseUrl: "http://127.0.0.1:1", timeout: "5 seconds" })
      const call = (fetch: typeof globalThis.fetch) =>
        tools.find(({ definition }) => definition.name === "getPetById")!.call({ petId: "7" }).pipe(
          Effect.provide(FetchHttpClient.layer),
          Effect.provideService(FetchHttpClient.Fetch, fetch)
        )
      const slow = yield* Effect.fork(call(() => new Promise(() => {})))
      yield* Effect.yieldNow()
      yield* TestClock.adjust("6 seconds")
      assert.deepNestedInclude((yield* Fiber.join(slow)) as object, {
        isError: true,
        "content[0].text": "The API did not answer in time."
      })
      const gone = yield* call(() => Promise.reject(new Error("ECONNREFUSED secret")))
      assert.deepNestedInclude(gone as object, { isError: true, "content[0].text": "The API could not be reached." })
    }))
})
