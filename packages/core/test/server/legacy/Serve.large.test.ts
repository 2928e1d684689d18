import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Layer, Schema } from "effect"
import { vi } from "vitest"
import { Dispatcher } from "../../../src/server/Dispatcher.js"
import * as McpServer from "../../../src/server/McpServer.js"
import { withEndpoint } from "../http/TestExchange.js"
import { serve } from "../Serving.js"

const Paint = Tool.make("paint", { parameters: { color: Schema.Literal("red", "green"), name: Schema.String } })
const Say = Prompt.make("say", { arguments: { how: Schema.Literal("loudly", "softly") } })

const server = serve(Layer.mergeAll(
  McpServer.tool(Paint, () => Effect.void),
  McpServer.prompt(Say, () => Effect.succeed("now"))
))

const objectOf = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i]))

const KEYS = 50_000

/** What the transport in memory looks up, once, to see that a value has a JSON form. */
const BY_TRANSPORT = 2 * KEYS + 1

/** An object of 50,000 keys that counts how often anything is looked up in it. */
const watched = () => {
  const large = objectOf(KEYS)
  const looks = { count: 0 }
  const look = <A>(found: A): A => (looks.count++, found)
  const value = new Proxy(large, {
    get: (all, key) => look(Reflect.get(all, key)),
    ownKeys: (all) => look(Reflect.ownKeys(all)),
    getOwnPropertyDescriptor: (all, key) => look(Reflect.getOwnPropertyDescriptor(all, key))
  })
  return { looks, value }
}

describe("A request with an object of very many keys in place of a short value", () => {
  /** A client whose values reach the server as they are, without a text in between. */
  const direct = Effect.gen(function*() {
    const dispatcher = yield* Dispatcher
    const [mine, theirs] = yield* Transport.memory()
    yield* Effect.forkScoped(dispatcher.accept(theirs))
    const peer = yield* TestPeer.make(mine)
    yield* peer.initialize()
    return peer
  })

  const requests: ReadonlyArray<readonly [method: string, params: (value: object) => object]> = [
    ["logging/setLevel", (level) => ({ level })],
    ["completion/complete", (ref) => ({ ref, argument: { name: "how", value: "l" } })],
    ["completion/complete", (name) => ({ ref: { type: "ref/prompt", name: "say" }, argument: { name, value: "l" } })],
    ["tools/list", (progressToken) => ({ _meta: { progressToken } })],
    ["tools/call", (args) => ({ name: "paint", arguments: [args] })],
    ["tools/call", (color) => ({ name: "paint", arguments: { color, name: "Ada" } })],
    ["prompts/get", (how) => ({ name: "say", arguments: { how } })]
  ]

  for (const [method, params] of requests) {
    it.scoped(`is refused without formatting the value: ${method} ${Object.keys(params({})).join(" ")}`, () =>
      Effect.gen(function*() {
        const { looks, value } = watched()
        const [peer, other] = [yield* direct, yield* direct]
        const id = yield* peer.request(method, params(value) as never)
        const ping = yield* other.request("ping")
        const answer = yield* peer.next
        assert.deepStrictEqual(yield* other.expectResult(ping), {})
        const text = JSON.stringify(answer)
        assert.deepInclude(answer, { id })
        assert.match(text, /Invalid (params|arguments).*(actual an (object|array)|is missing|must be one of)/)
        assert.isBelow(text.length, 1000)
        // Few enough values are counted to find out that there are many.
        assert.isBelow(looks.count - BY_TRANSPORT, 5000)
      }).pipe(Effect.provide(server)))
  }

  it.effect("is refused over HTTP before it is parsed, and another session goes on", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const [first, second] = [yield* http.open(), yield* http.open()]
        const text = `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":{${
          Array.from({ length: 380_000 }, (_, i) => `"k${i.toString(36)}":0`).join(",")
        }}}}`
        assert.isAbove(text.length, 3_400_000)
        const parse = vi.spyOn(JSON, "parse")
        const refused = first.post(text)
        const pinged = yield* second.ask({ jsonrpc: "2.0", id: 8, method: "ping" })
        assert.isTrue(parse.mock.calls.every(([parsed]) => parsed.length < 10_000))
        parse.mockRestore()
        assert.deepStrictEqual(pinged.json, { jsonrpc: "2.0", id: 8, result: {} })
        assert.strictEqual(refused.status, 400)
        assert.deepStrictEqual(refused.json, {
          jsonrpc: "2.0",
          id: 7,
          error: { code: -32600, message: "Invalid request: more than 100000 values" }
        })
      })))

  it.effect("is refused with its own error where the endpoint accepts so many values", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const session = yield* http.open()
        const answer = yield* session.ask({
          jsonrpc: "2.0",
          id: 7,
          method: "logging/setLevel",
          params: { level: objectOf(120_000) }
        })
        assert.strictEqual(answer.json.error.code, -32602)
        assert.match(answer.json.error.message, /^Invalid params: level: must be one of debug, info, .*, emergency$/)
        assert.lengthOf(answer.json.error.data.issues, 1)
      }), { limits: { maxNodes: 1_000_000, maxBodyBytes: 10_000_000 } }))
})
