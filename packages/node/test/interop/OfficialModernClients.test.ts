import { assert, layer } from "@effect/vitest"
import { LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client"
import { Context, Effect, Fiber, Layer } from "effect"
import { key, layer as settingLayer, Setting, text } from "../behaviour/Behaviour.js"
import * as Contract from "../behaviour/Contract.js"
import type { Served } from "../behaviour/Transports.js"
import { transports } from "../behaviour/Transports.js"
import { until } from "../HttpFixture.js"
import type { Answers, Official } from "./OfficialClients.js"
import { clients } from "./OfficialClients.js"

const inOrder = (names: Iterable<string>) => [...names].sort()

const failureOf = <A>(effect: Effect.Effect<A, any>): Effect.Effect<any> =>
  Effect.orDieWith(Effect.flip(effect), String)

/** A client for tests that do not change it. */
class Shared extends Context.Tag("test/interop/Shared")<Shared, Official>() {}

/** The methods of the requests that the client sent. */
const methodsOf = ({ transcript }: Official) =>
  transcript.entries.flatMap(({ from, message }) => from === "client" && "method" in message ? [message.method] : [])

/** The results of the server without an error, and their types. */
const resultTypes = ({ transcript }: Official) =>
  transcript.entries.flatMap(({ from, message }) =>
    from === "server" && "result" in message ? [message.result.resultType] : []
  )

const chosen = [
  "stdio",
  "Streamable HTTP",
  "Streamable HTTP that always streams",
  "Streamable HTTP on the platform's server"
]

for (const transport of transports.filter(({ name }) => chosen.includes(name))) {
  for (const [name, connectTo] of Object.entries(clients.modern)) {
    const connect = (served: Served, answers?: Answers) => connectTo(served.address!, answers)
    /** One more client of the shared server. */
    const another = (answers: Answers = {}) => Effect.flatMap(Setting, ({ served }) => connect(served, answers))
    /** A client and its own server. */
    const alone = Effect.gen(function*() {
      const served = yield* (yield* Setting).ownServer
      return { served, client: yield* connect(served) }
    })
    const shared = Layer.scoped(Shared, Effect.orDie(another()))

    layer(Layer.provideMerge(shared, settingLayer(transport)), { excludeTestServices: true, timeout: "30 seconds" })(
      `A server of Effect MCP and ${name} at 2026-07-28 over ${transport.name}`,
      (it) => {
        it.scoped("exchange a description of the server, and no handshake", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            assert.deepStrictEqual(client.serverInfo, Contract.info)
            assert.strictEqual(client.instructions, Contract.instructions)
            assert.sameMembers(Object.keys(client.capabilities), [
              "completions",
              "logging",
              "prompts",
              "resources",
              "tools"
            ])
            const { structuredContent } = yield* client.call("who")
            assert.deepStrictEqual(structuredContent, { name: "official", version: "2026-07-28", inSession: false })
            assert.notInclude(methodsOf(client), "initialize")
            assert.isUndefined(client.sessionId())
          }))

        it.scoped("list all features as they were defined, page by page", () =>
          Effect.gen(function*() {
            const client = yield* another()
            const names = inOrder(Contract.Tools.tools.keys())
            assert.isAbove(names.length, 3 * Contract.PAGE)
            assert.deepStrictEqual(yield* client.list, names.map((name) => Contract.Tools.tools.get(name)!.advertised))
            assert.lengthOf(
              methodsOf(client).filter((method) => method === "tools/list"),
              Math.ceil(names.length / Contract.PAGE)
            )
            const { resources } = yield* client.ask((sdk) => sdk.listResources())
            assert.deepStrictEqual(
              resources,
              [Contract.Bytes, Contract.Text, Contract.Watched].map(({ advertised }) => advertised)
            )
            const { resourceTemplates } = yield* client.ask((sdk) => sdk.listResourceTemplates())
            assert.deepStrictEqual(resourceTemplates, [Contract.Item.advertised])
            const { prompts } = yield* client.ask((sdk) => sdk.listPrompts())
            assert.deepStrictEqual(prompts, [Contract.Greet.advertised, Contract.Plain.advertised])
            const invalid = yield* failureOf(client.ask((sdk) => sdk.listTools({ cursor: "made up" })))
            assert.strictEqual(invalid.code, -32602)
          }))

        it.scoped("read resources: text, bytes, one of a template, and an unknown one", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const read = (uri: string) =>
              Effect.map(client.ask((sdk) => sdk.readResource({ uri })), (it) => it.contents)
            assert.deepStrictEqual(yield* read("test://text"), [
              { uri: "test://text", mimeType: "text/plain", text: "ä€😀" }
            ])
            assert.deepStrictEqual(yield* read("test://bytes"), [
              { uri: "test://bytes", mimeType: "application/octet-stream", blob: "AAH+/w==" }
            ])
            assert.deepStrictEqual(yield* read("test://items/42"), [
              { uri: "test://items/42", mimeType: "application/json", text: "{\"id\":42}" }
            ])
            const missing = yield* failureOf(read("test://nowhere"))
            assert.strictEqual(missing.code, -32602)
            assert.include(missing.message, "Resource not found: test://nowhere")
          }))

        it.scoped("get prompts, and fail for unknown ones and invalid arguments", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const get = (name: string, args?: Record<string, string>) =>
              client.ask((sdk) => sdk.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) }))
            assert.deepStrictEqual((yield* get("plain")).messages, [
              { role: "user", content: text("Say something.")[0] }
            ])
            assert.deepStrictEqual((yield* get("greet", { name: "Ada", tone: "formal" })).messages, [
              { role: "user", content: text("Greet Ada.")[0] },
              { role: "assistant", content: text("In a formal way?")[0] }
            ])
            assert.strictEqual((yield* failureOf(get("greet", { name: "Ada", tone: "rude" }))).code, -32602)
            assert.strictEqual((yield* failureOf(get("none"))).code, -32602)
          }))

        it.scoped("complete arguments, depending on others", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const complete = (params: object) =>
              Effect.map(client.ask((sdk) => sdk.complete(params)), ({ completion }) => completion.values)
            const greet = { type: "ref/prompt", name: "greet" }
            assert.deepStrictEqual(yield* complete({ ref: greet, argument: { name: "tone", value: "fr" } }), [
              "friendly"
            ])
            assert.deepStrictEqual(
              yield* complete({
                ref: greet,
                argument: { name: "name", value: "A" },
                context: { arguments: { tone: "formal" } }
              }),
              ["Aa in formal tone", "Ab in formal tone"]
            )
            const item = { type: "ref/resource", uri: "test://items/{id}" }
            assert.deepStrictEqual(yield* complete({ ref: item, argument: { name: "id", value: "12" } }), ["12", "123"])
          }))

        it.scoped("call tools: structured content, a declared failure, content of every kind", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            // From here on the client validates structured content.
            yield* client.list
            const sum = yield* client.call("add", { a: 2, b: 3 })
            assert.deepStrictEqual([sum.structuredContent, sum.content], [{ sum: 5 }, text("{\"sum\":5}")])
            const failed = yield* client.call("add", { a: 1000 })
            assert.isTrue(failed.isError)
            assert.deepStrictEqual(JSON.parse(failed.content[0].text), { _tag: "TooLarge", limit: 1000 })
            const refused = yield* client.call("add", { a: "two" })
            assert.isTrue(refused.isError)
            const { _meta, content } = yield* client.call("rich")
            assert.deepStrictEqual(
              content.map(({ type }: { readonly type: string }) => type),
              ["text", "image", "audio", "resource_link", "resource"]
            )
            assert.deepInclude(_meta, { "example.com/kind": "rich" })
          }))

        it.scoped("repeat marked arguments in headers, over HTTP", () =>
          Effect.gen(function*() {
            const client = yield* another()
            const route = (region: string, priority?: number) =>
              Effect.map(
                client.call("route", { region, ...(priority === undefined ? {} : { priority }) }),
                ({ structuredContent }) => structuredContent
              )
            const headers = (...sent: ReadonlyArray<string>) => transport.kind === "http" ? sent : []
            // A client that has not listed the tool lists it when the server refuses the call.
            assert.deepStrictEqual(yield* route("us-west1"), {
              region: "us-west1",
              headers: headers("mcp-param-region: us-west1")
            })
            // The client encodes the empty text, which may be sent as it is.
            for (const region of ["", " padded ", "Hello, 世界", "line1\r\nline2", "=?base64?literal?="]) {
              const encoded = `=?base64?${Buffer.from(region).toString("base64")}?=`
              assert.deepStrictEqual(yield* route(region, 7), {
                region,
                headers: headers("mcp-param-priority: 7", `mcp-param-region: ${encoded}`)
              })
            }
          }))

        it.scoped("exchange large results, many at once", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const lengths = [1, 70_000, 3_000_000, 10, 1_000_000]
            const results = yield* Effect.forEach(lengths, (length) => client.call("large", { length }), {
              concurrency: "unbounded"
            })
            assert.deepStrictEqual(results.map(({ content }) => content[0].text.length), lengths)
          }))

        it.scoped("call many tools concurrently, each with its own result", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const numbers = Array.from({ length: 60 }, (_, n) => n)
            const sums = yield* Effect.forEach(numbers, (a) => client.call("add", { a }), { concurrency: "unbounded" })
            assert.deepStrictEqual(
              sums.map(({ structuredContent }) => structuredContent.sum),
              numbers.map((n) => n + 1)
            )
          }))

        it.scoped("fail with a protocol error for an unknown tool, and get a tool error of a handler that dies", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            assert.strictEqual((yield* failureOf(client.call("none"))).code, -32602)
            const { content, isError } = yield* client.call("die", { key: key() })
            assert.deepStrictEqual([content, isError], [[{ type: "text", text: "Internal error" }], true])
          }))

        it.scoped("send progress in order", () =>
          Effect.gen(function*() {
            const { served } = yield* Setting
            const client = yield* Shared
            const name = key()
            const seen: Array<unknown> = []
            const calling = yield* Effect.fork(client.call("hold", { key: name }, {
              onprogress: (progress) => seen.push(progress)
            }))
            yield* served.reports.until(`${name} began`)
            yield* until(() => seen.length === 1)
            yield* client.call("release", { key: name })
            assert.deepStrictEqual((yield* Fiber.join(calling)).content, text(`${name} was released`))
            assert.deepStrictEqual(seen, [{ progress: 1, total: 2, message: "step 1" }])
          }))

        it.scoped("send logs from the level that the request names, and none without a level", () =>
          Effect.gen(function*() {
            const client = yield* another()
            const levels = ["debug", "error", "info", "warning"]
            const log = (_meta?: object) =>
              client.ask((sdk) => sdk.callTool({ name: "log", arguments: { levels }, ...(_meta && { _meta }) }))
            yield* log()
            yield* log({ [LOG_LEVEL_META_KEY]: "warning" })
            yield* until(() => client.logs.length >= 2)
            yield* log()
            assert.deepStrictEqual(
              client.logs,
              ["error", "warning"].map((level) => ({ level, logger: "behaviours", data: { value: level } }))
            )
          }))

        it.scoped("cancel a call, and a call that times out: their handlers MUST be interrupted", () =>
          Effect.gen(function*() {
            const { served } = yield* Setting
            const client = yield* another()
            const [cancelled, late, beside] = [key(), key(), key()]
            const abort = new AbortController()
            const held = yield* Effect.fork(client.call("hold", { key: beside }))
            const calling = yield* Effect.fork(failureOf(
              client.call("hold", { key: cancelled }, { signal: abort.signal })
            ))
            yield* served.reports.until(`${cancelled} began`)
            yield* served.reports.until(`${beside} began`)
            abort.abort()
            yield* Fiber.join(calling)
            yield* served.reports.until(`${cancelled} stopped`)
            const timeout = yield* failureOf(client.call("hold", { key: late }, { timeout: 200 }))
            assert.match(timeout.message, /timed out/i)
            yield* served.reports.until(`${late} stopped`)
            yield* client.call("release", { key: beside })
            assert.deepStrictEqual((yield* Fiber.join(held)).content, text(`${beside} was released`))
            assert.deepStrictEqual(client.errors, [])
          }))

        it.scoped("sample in a second round, and send no second round when the client rejects", () =>
          Effect.gen(function*() {
            const client = yield* another({
              sampling: ({ messages: [{ content }] }) => {
                if (content.text === "no") throw Object.assign(new Error("Not today"), { code: -1 })
                return { role: "assistant", model: "parrot", content }
              }
            })
            assert.deepStrictEqual((yield* client.call("sample", { prompt: "a" })).content, text("parrot: a"))
            assert.deepStrictEqual(resultTypes(client).slice(-2), ["input_required", "complete"])
            const refused = yield* failureOf(client.call("sample", { prompt: "no" }))
            assert.include(refused.message, "Not today")
            assert.deepStrictEqual(resultTypes(client).slice(-2), ["complete", "input_required"])
          }))

        it.scoped("elicit a form: missing fields get their defaults, and the user can decline", () =>
          Effect.gen(function*() {
            const answers = [{ action: "accept", content: { name: "Ada", size: "large" } }, { action: "decline" }, {
              action: "cancel"
            }]
            const elicited: Array<any> = []
            const client = yield* another({
              elicitation: (params) => {
                elicited.push(params)
                return answers.shift()
              }
            })
            const accepted = yield* client.call("form")
            assert.deepStrictEqual(JSON.parse(accepted.content[0].text), {
              action: "accept",
              content: { name: "Ada", size: "large", count: 3 }
            })
            assert.deepStrictEqual((yield* client.call("form")).content, text("{\"action\":\"decline\"}"))
            assert.deepStrictEqual((yield* client.call("form")).content, text("{\"action\":\"cancel\"}"))
            assert.deepStrictEqual(elicited[0].requestedSchema.properties.size, {
              type: "string",
              enum: ["small", "large"],
              default: "small"
            })
          }))

        it.scoped("elicit a URL", () =>
          Effect.gen(function*() {
            const id = key()
            const client = yield* another({
              elicitation: ({ mode, url }) => ({
                action: mode === "url" && url === `https://example.com/${id}` ? "accept" : "cancel"
              })
            })
            assert.deepStrictEqual((yield* client.call("page", { id })).content, text("accept"))
          }))

        it.scoped("list the roots anew with each call", () =>
          Effect.gen(function*() {
            let uri = "file:///one"
            const client = yield* another({ roots: () => [{ uri, name: "work" }] })
            assert.deepStrictEqual((yield* client.call("roots")).content, text("work file:///one"))
            uri = "file:///two"
            assert.deepStrictEqual((yield* client.call("roots")).content, text("work file:///two"))
          }))

        it.scoped("ask in several rounds, and several questions in one", () =>
          Effect.gen(function*() {
            const client = yield* another({
              roots: () => [{ uri: "file:///one" }],
              sampling: ({ messages: [{ content }] }) => ({ role: "assistant", model: "parrot", content }),
              elicitation: ({ mode }) => ({
                action: "accept",
                ...(mode === "url" ? {} : { content: { name: "Ada" } })
              })
            })
            const interviews = yield* Effect.replicateEffect(client.call("interview"), 8).pipe(
              Effect.withConcurrency("unbounded")
            )
            for (const { content } of interviews) {
              assert.deepStrictEqual(JSON.parse(content[0].text), {
                message: "Is it Name file:///one?",
                profile: { action: "accept", content: { name: "Ada", size: "small", count: 3 } },
                page: "accept"
              })
            }
            assert.lengthOf(methodsOf(client).filter((method) => method === "tools/call"), 8 * 4)
          }))

        it.scoped("ask nothing of a client that has not declared the capability", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const calls: ReadonlyArray<readonly [string, Record<string, string>]> = [
              ["sample", { prompt: "a" }],
              ["form", {}],
              ["page", { id: "a" }],
              ["roots", {}]
            ]
            for (const [tool, args] of calls) {
              const { code, data } = yield* failureOf(client.call(tool, args))
              assert.strictEqual(code, -32021, tool)
              assert.containsAllKeys(data, ["requiredCapabilities"])
            }
          }))

        it.scoped("notify of changed lists and resources, of those that a subscription names, and until its end", () =>
          Effect.gen(function*() {
            const { client } = yield* alone
            const { uri } = Contract.Watched
            const offer = (kind: string, name: string) => client.call("offer", { kind, name })
            yield* offer("tool", "before")
            const everything = yield* client.listen({
              toolsListChanged: true,
              promptsListChanged: true,
              resourcesListChanged: true,
              resourceSubscriptions: [uri]
            })
            assert.deepStrictEqual(everything.honoredFilter, {
              toolsListChanged: true,
              promptsListChanged: true,
              resourcesListChanged: true,
              resourceSubscriptions: [uri]
            })
            for (const [n, kind] of ["tool", "resource", "prompt"].entries()) {
              yield* offer(kind, `more-${kind}`)
              yield* until(() => client.changes.length > n)
            }
            assert.deepStrictEqual(client.changes, ["tools", "resources", "prompts"])
            yield* client.call("touch")
            yield* until(() => client.updates.length > 0)
            assert.deepStrictEqual(client.updates, [uri])
            // A second subscription, which names less, goes on when the first one ends.
            yield* client.listen({ promptsListChanged: true })
            yield* Effect.promise(() => everything.close())
            assert.strictEqual(yield* Effect.promise(() => everything.closed), "local")
            client.changes.length = client.updates.length = 0
            yield* client.call("touch")
            yield* offer("tool", "unnoticed")
            yield* offer("prompt", "noticed")
            yield* until(() => client.changes.length > 0)
            assert.deepStrictEqual([client.changes, client.updates], [["prompts"], []])
          }))

        it.scoped("end a subscription in order when the server closes, and answer the calls", () =>
          Effect.gen(function*() {
            const { client, served } = yield* alone
            const name = key()
            const subscription = yield* client.listen({ toolsListChanged: true })
            const calling = yield* Effect.fork(failureOf(client.call("hold", { key: name })))
            yield* served.reports.until(`${name} began`)
            yield* served.close
            yield* Fiber.join(calling)
            // On stdio the server MUST cancel the subscription before it sends the result. This client reads only the first.
            assert.strictEqual(
              yield* Effect.promise(() => subscription.closed),
              transport.kind === "stdio" ? "remote" : "graceful"
            )
            assert.include(served.reports.lines(), `${name} stopped`)
          }))
      }
    )
  }
}
