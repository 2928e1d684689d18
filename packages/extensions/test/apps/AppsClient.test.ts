import { assert, describe, it } from "@effect/vitest"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { TransportError } from "@effect-mcp/core/LocalError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { Tool } from "@effect-mcp/core/protocol/Tools"
import * as AppsClient from "@effect-mcp/extensions/AppsClient"
import * as TestClient from "@effect-mcp/testing/TestClient"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Effect, Encoding, Fiber, Option } from "effect"

const ID = "io.modelcontextprotocol/ui"
const uri = "ui://weather/map.html"
const html = "<!doctype html><title>Map</title>"
const mimeType = "text/html;profile=mcp-app"
const inputSchema = { type: "object" } as const
const tool = (name: string, ui?: JsonObject): Tool => ({
  name,
  inputSchema,
  ...(ui === undefined ? undefined : { _meta: { ui } })
})
const forecast = tool("forecast", { resourceUri: uri })
const ui = {
  csp: {
    connectDomains: ["https://api.example.com"],
    resourceDomains: ["https://cdn.example.com", "https://*.b.example.com"]
  },
  permissions: { camera: {}, clipboardWrite: {} },
  domain: "a.example.com",
  prefersBorder: true
}

interface Connected {
  readonly client: ClientSessionService
  readonly server: TestPeer
  /** Answers the next request, which has this method. */
  readonly answer: (method: string, result: JsonObject) => Effect.Effect<JsonObject, TransportError>
}

const capabilities = { tools: {}, resources: {} }
const extensions = [AppsClient.extension]

/** Runs an effect beside the script, from its first step on. */
const beside = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.tap(Effect.fork(effect), Effect.yieldNow())

const answering = (server: TestPeer, members: JsonObject): Connected["answer"] => (method, result) =>
  Effect.gen(function*() {
    const { id, params } = yield* server.expectRequest(method)
    yield* server.send({ jsonrpc: "2.0", id, result: { ...members, ...result } })
    return params ?? {}
  })

const eras = {
  "2025-11-25": Effect.map(
    TestClient.make({ version: "2025-11-25", capabilities, client: { extensions } }),
    ({ client, server }): Connected => ({ client, server, answer: answering(server, {}) })
  ),
  "2026-07-28": Effect.map(
    Effect.tap(
      TestClient.make({ version: "2026-07-28", capabilities, client: { extensions } }),
      ({ server }) => Effect.addFinalizer(() => server.hangUp)
    ),
    ({ client, server }): Connected => ({
      client,
      server,
      answer: answering(server, { resultType: "complete", ttlMs: 0, cacheScope: "private" })
    })
  )
}

const reasonOf = (error: Error) => [(error as TransportError).reason, error.message]

for (const [version, connected] of Object.entries(eras)) {
  describe(`Apps.view at ${version}`, () => {
    /** Reads a view whose server gives these contents, and this list of resources when it is asked for one. */
    const reading = (
      contents: ReadonlyArray<JsonObject>,
      listed?: ReadonlyArray<JsonObject>,
      options?: AppsClient.ViewOptions
    ) =>
      Effect.gen(function*() {
        const { answer, client } = yield* connected
        const calling = yield* beside(Effect.either(AppsClient.view(client, forecast, options)))
        assert.strictEqual((yield* answer("resources/read", { contents })).uri, uri)
        if (listed !== undefined) yield* answer("resources/list", { resources: listed })
        return yield* yield* Fiber.join(calling)
      })

    it.scoped("gives the document, from a text or from base64, with the metadata of the content", () =>
      Effect.gen(function*() {
        for (const content of [{ text: html }, { blob: Encoding.encodeBase64(html) }]) {
          const contents = [{ uri: "ui://other", text: "" }, { uri, mimeType, ...content, _meta: { ui } }]
          assert.deepStrictEqual(yield* reading(contents), Option.some({ uri, html, ...ui, leftOut: [] }))
        }
      }))

    it.scoped("MUST prefer the metadata of the content, and fall back to that of the list", () =>
      Effect.gen(function*() {
        const content = { uri, mimeType, text: html }
        const listed = [{ uri: "ui://other", name: "other" }, { uri, name: "map", _meta: { ui } }]
        assert.deepStrictEqual(yield* reading([content], listed), Option.some({ uri, html, ...ui, leftOut: [] }))
        const own = yield* reading([{ ...content, _meta: { ui: { prefersBorder: false } } }])
        assert.deepStrictEqual(own, Option.some({ uri, html, prefersBorder: false, leftOut: [] }))
        assert.deepStrictEqual(yield* reading([content], []), Option.some({ uri, html, leftOut: [] }))
      }))

    it.scoped("needs no list of resources", () =>
      Effect.gen(function*() {
        const { answer, client, server } = yield* connected
        const calling = yield* beside(AppsClient.read(client, uri))
        yield* answer("resources/read", { contents: [{ uri, mimeType, text: html }] })
        const { id } = yield* server.expectRequest("resources/list")
        yield* server.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })
        assert.deepStrictEqual(yield* Fiber.join(calling), { uri, html, leftOut: [] })
      }))

    it.scoped("fails when the server gives no document, another media type, or what is not base64", () =>
      Effect.gen(function*() {
        for (
          const [contents, why] of [
            [[], "no document"],
            [[{ uri, text: html }], "media type"],
            [[{ uri, text: html, mimeType: "text/html" }], "media type"],
            [[{ uri, blob: "%", mimeType }], "base64"]
          ] as const
        ) {
          const [reason, message] = reasonOf(yield* Effect.flip(reading(contents)))
          assert.strictEqual(reason, "Decode")
          assert.include(message, `The view ${uri} is not valid: `)
          assert.include(message, why)
        }
      }))

    it.scoped("fails when the document is longer than the limit, however it is sent", () =>
      Effect.gen(function*() {
        const maxLength = html.length
        for (const [text, isLong] of [[html, false], [`${html}!`, true], [`${html}!!!`, true]] as const) {
          for (const content of [{ text }, { blob: Encoding.encodeBase64(text) }]) {
            const read = yield* Effect.either(
              reading([{ uri, mimeType, ...content, _meta: { ui: {} } }], undefined, { maxLength })
            )
            assert.strictEqual(read._tag, isLong ? "Left" : "Right", JSON.stringify(content))
          }
        }
      }))

    it.scoped("leaves out metadata that is not valid, and names it", () =>
      Effect.gen(function*() {
        const read = yield* reading([{
          uri,
          mimeType,
          text: html,
          _meta: { ui: { csp: { connectDomains: ["a; script-src *"] }, prefersBorder: true } }
        }])
        const { leftOut, ...rest } = Option.getOrThrow(read)
        assert.deepStrictEqual(rest, { uri, html, csp: { connectDomains: [] }, prefersBorder: true })
        assert.strictEqual(leftOut.length, 1)
        assert.include(leftOut[0], "csp.connectDomains.0")
      }))
  })

  describe(`A host at ${version}`, () => {
    it.scoped("gives the model and the views the tools that are for them, and MUST refuse calls of views for others", () =>
      Effect.gen(function*() {
        const { answer, client } = yield* connected
        const tools = [
          forecast,
          tool("plain"),
          tool("refresh", { resourceUri: uri, visibility: ["app"] }),
          tool("secret", { visibility: ["model"] })
        ]
        const names = (isFor: (tool: Tool) => boolean) => tools.filter(isFor).map(({ name }) => name)
        assert.deepStrictEqual(names(AppsClient.isForModel), ["forecast", "plain", "secret"])
        assert.deepStrictEqual(names(AppsClient.isForApp), ["forecast", "plain", "refresh"])
        for (const name of ["secret", "unknown"]) {
          const error = yield* Effect.flip(AppsClient.callTool(client, tools, { name }))
          assert.strictEqual(error._tag, "InvalidParams")
        }
        const calling = yield* beside(AppsClient.callTool(client, tools, { name: "refresh", arguments: { n: 1 } }))
        const params = yield* answer("tools/call", { content: [] })
        assert.deepInclude(params, { name: "refresh", arguments: { n: 1 } })
        assert.deepStrictEqual((yield* Fiber.join(calling)).content, [])
      }))

    it.scoped("reads nothing for a tool without a view, and fails for one whose view is not a view", () =>
      Effect.gen(function*() {
        const { client, server } = yield* connected
        assert.deepStrictEqual(yield* AppsClient.view(client, tool("plain")), Option.none())
        for (const _meta of [{ ui: { resourceUri: "https://example.com" } }, { "ui/resourceUri": 7 }]) {
          const [reason, message] = reasonOf(
            yield* Effect.flip(AppsClient.view(client, { name: "bad", inputSchema, _meta }))
          )
          assert.strictEqual(reason, "Decode")
          assert.include(message, `The view of the tool "bad" is not valid`)
        }
        yield* server.hangUp
      }))
  })
}

describe("AppsClient.extension", () => {
  it.scoped("declares the media type that the client shows, in each request of 2026-07-28", () =>
    Effect.gen(function*() {
      const { client, server } = yield* eras["2026-07-28"]
      yield* beside(Effect.either(client.callTool("t")))
      assert.deepStrictEqual(
        ((yield* server.expectRequest("tools/call")).params?._meta as JsonObject)[
          "io.modelcontextprotocol/clientCapabilities"
        ],
        { extensions: { [ID]: { mimeTypes: [mimeType] } } }
      )
    }))
})

describe("AppsClient.contentSecurityPolicy", () => {
  it("MUST allow what the metadata names and nothing else", () => {
    assert.strictEqual(
      AppsClient.contentSecurityPolicy({}),
      "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "media-src 'self' data:; font-src 'none'; connect-src 'none'; frame-src 'none'; object-src 'none'; " +
        "form-action 'none'; base-uri 'self'"
    )
    const cdn = ui.csp.resourceDomains.join(" ")
    assert.strictEqual(
      AppsClient.contentSecurityPolicy({
        csp: { ...ui.csp, frameDomains: ["https://f.example.com"], baseUriDomains: ["https://b.example.com"] }
      }),
      `default-src 'none'; script-src 'self' 'unsafe-inline' ${cdn}; style-src 'self' 'unsafe-inline' ${cdn}; ` +
        `img-src 'self' data: ${cdn}; media-src 'self' data: ${cdn}; font-src ${cdn}; ` +
        "connect-src https://api.example.com; frame-src https://f.example.com; object-src 'none'; form-action 'none'; " +
        "base-uri https://b.example.com"
    )
  })
})

describe("AppsClient.contentSecurityPolicy of a host", () => {
  it("MUST NOT allow what is not an origin, whoever has made the metadata", () => {
    const csp = {
      connectDomains: ["*", "https:"],
      baseUriDomains: ["javascript:"],
      resourceDomains: ["https://a.com; form-action *"]
    }
    assert.strictEqual(AppsClient.contentSecurityPolicy({ csp }), AppsClient.contentSecurityPolicy({}))
  })
})

describe("AppsClient.allowAttribute", () => {
  it("names the permissions that the view requests", () => {
    assert.strictEqual(AppsClient.allowAttribute({}), "")
    assert.strictEqual(AppsClient.allowAttribute(ui), "camera; clipboard-write")
  })
})
