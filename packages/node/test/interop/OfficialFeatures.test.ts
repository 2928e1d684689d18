import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { key, layer as settingLayer, Setting, text, timedOut } from "../behaviour/Behaviour.js"
import * as Contract from "../behaviour/Contract.js"
import { type Served, transports } from "../behaviour/Transports.js"
import { until } from "../HttpFixture.js"
import { type Answers, clients, type Official } from "./OfficialClients.js"

const inOrder = (names: Iterable<string>) => [...names].sort()

const codeOf = (effect: Effect.Effect<any, any>) => Effect.map(Effect.flip(effect), ({ code }) => code)

/** A client for tests that do not change it. */
class Shared extends Context.Tag("test/interop/Shared")<Shared, Official>() {}

const chosen = ["stdio", "Streamable HTTP", "Streamable HTTP that always streams"]

for (const transport of transports.filter(({ name }) => chosen.includes(name))) {
  for (const [name, connectTo] of Object.entries(clients.legacy)) {
    const connect = (served: Served, answers?: Answers) => connectTo(served.address!, answers)
    /** One more client of the shared server. */
    const another = (answers: Answers) => Effect.flatMap(Setting, ({ served }) => connect(served, answers))
    /** A client and its own server. */
    const alone = Effect.gen(function*() {
      const served = yield* (yield* Setting).ownServer
      return { served, client: yield* connect(served) }
    })
    const shared = Layer.scoped(Shared, Effect.orDie(another({})))

    layer(Layer.provideMerge(shared, settingLayer(transport)), { excludeTestServices: true })(
      `A server of Effect MCP and ${name} over ${transport.name}`,
      (it) => {
        it.scoped("list all features page by page", () =>
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
            const names = inOrder(Contract.Tools.tools.keys())
            assert.isAbove(names.length, 3 * Contract.PAGE)
            assert.deepStrictEqual(yield* client.list, names.map((name) => Contract.Tools.tools.get(name)!.advertised))
          }))

        it.scoped("list resources, templates and prompts as they were defined", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const { resources } = yield* client.ask((sdk) => sdk.listResources())
            assert.deepStrictEqual(
              resources,
              Contract.resources.map(({ advertised }) => advertised)
            )
            const { resourceTemplates } = yield* client.ask((sdk) => sdk.listResourceTemplates())
            assert.deepStrictEqual(resourceTemplates, [Contract.Item.advertised])
            const { prompts } = yield* client.ask((sdk) => sdk.listPrompts())
            assert.deepStrictEqual(prompts, Contract.prompts.map(({ advertised }) => advertised))
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
            const missing = yield* Effect.flip(read("test://nowhere"))
            // The newer client maps the older code to a newer one.
            assert.include([-32002, -32602], missing.code)
            assert.include(missing.message, "Resource not found: test://nowhere")
          }))

        it.scoped("subscribe to a resource, and unsubscribe", () =>
          Effect.gen(function*() {
            const { client } = yield* alone
            const { uri } = Contract.Watched
            yield* client.call("touch")
            yield* client.ask((sdk) => sdk.subscribeResource({ uri }))
            yield* client.call("touch")
            yield* until(() => client.updates.length > 0)
            yield* client.ask((sdk) => sdk.unsubscribeResource({ uri }))
            yield* client.call("touch")
            yield* client.call("offer", { kind: "tool", name: "more" })
            yield* until(() => client.changes.length > 0)
            assert.deepStrictEqual(client.updates, [uri])
          }))

        it.scoped("get prompts: without arguments, with arguments, and with invalid ones", () =>
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
            assert.strictEqual(yield* codeOf(get("greet", { name: "Ada", tone: "rude" })), -32602)
            assert.strictEqual(yield* codeOf(get("none")), -32602)
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
            assert.deepStrictEqual(_meta, { "example.com/kind": "rich" })
          }))

        it.scoped("fail with a protocol error for an unknown tool, and get a tool error of a handler that dies", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            assert.strictEqual(yield* codeOf(client.call("none")), -32602)
            const { content, isError } = yield* client.call("die", { key: key() })
            assert.deepStrictEqual([content, isError], [[{ type: "text", text: "Internal error" }], true])
          }))

        it.scoped("call many tools concurrently, each with its own result", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const numbers = Array.from({ length: 30 }, (_, n) => n)
            const sums = yield* Effect.forEach(numbers, (a) => client.call("add", { a }), { concurrency: "unbounded" })
            assert.deepStrictEqual(
              sums.map(({ structuredContent }) => structuredContent.sum),
              numbers.map((n) => n + 1)
            )
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

        it.scoped("send logs from the level that the client has set", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            yield* client.ask((sdk) => sdk.setLoggingLevel("warning"))
            yield* client.call("log", { levels: ["debug", "error", "info", "warning"] })
            yield* until(() => client.logs.length >= 2)
            assert.deepStrictEqual(
              client.logs,
              ["error", "warning"].map((level) => ({ level, logger: "behaviours", data: { value: level } }))
            )
          }))

        it.scoped("cancel a call, and a call that times out: their handlers are interrupted", () =>
          Effect.gen(function*() {
            const { served } = yield* Setting
            const client = yield* Shared
            const cancelled = key()
            const abort = new AbortController()
            const calling = yield* Effect.fork(
              Effect.flip(client.call("hold", { key: cancelled }, { signal: abort.signal }))
            )
            yield* served.reports.until(`${cancelled} began`)
            abort.abort()
            yield* Fiber.join(calling)
            yield* served.reports.until(`${cancelled} stopped`)
            const late = yield* timedOut(
              served.reports.lines,
              (key, timeout) => client.call("hold", { key }, { timeout })
            )
            assert.match(late.error.message, /timed out/i)
            yield* served.reports.until(`${late.name} stopped`)
            yield* client.ping
          }))

        it.scoped("send sampling requests, and fail when one is rejected", () =>
          Effect.gen(function*() {
            const client = yield* another({
              sampling: ({ messages: [{ content }] }) => {
                if (content.text === "no") throw Object.assign(new Error("Not today"), { code: -1 })
                return { role: "assistant", model: "parrot", content }
              }
            })
            assert.deepStrictEqual((yield* client.call("sample", { prompt: "a" })).content, text("parrot: a"))
            const refused = yield* Effect.flip(client.call("sample", { prompt: "no" }))
            assert.deepStrictEqual([refused.code, refused.message.includes("Not today")], [-1, true])
          }))

        it.scoped("elicit a form: missing fields get their defaults, and the user can decline", () =>
          Effect.gen(function*() {
            const answers = [{ action: "accept", content: { name: "Ada", size: "large" } }, { action: "decline" }]
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
            assert.deepStrictEqual(elicited[0].requestedSchema.properties.size, {
              type: "string",
              enum: ["small", "large"],
              default: "small"
            })
          }))

        it.scoped("elicit a URL, and notify of its completion", () =>
          Effect.gen(function*() {
            const id = key()
            const client = yield* another({
              elicitation: ({ mode, url }) => ({
                action: mode === "url" && url === `https://example.com/${id}` ? "accept" : "cancel"
              })
            })
            assert.deepStrictEqual((yield* client.call("page", { id })).content, text("accept"))
            yield* until(() => client.completed.length > 0)
            assert.deepStrictEqual(client.completed, [id])
          }))

        it.scoped("list the roots, and list them again when they change", () =>
          Effect.gen(function*() {
            let uri = "file:///one"
            const client = yield* another({ roots: () => [{ uri, name: "work" }] })
            assert.deepStrictEqual((yield* client.call("roots")).content, text("work file:///one"))
            uri = "file:///two"
            yield* client.ask((sdk) => sdk.sendRootsListChanged())
            assert.deepStrictEqual((yield* client.call("roots")).content, text("work file:///two"))
          }))

        it.scoped("send no requests for capabilities that the client has not declared", () =>
          Effect.gen(function*() {
            const client = yield* Shared
            const calls: ReadonlyArray<readonly [string, Record<string, string>]> = [
              ["sample", { prompt: "a" }],
              ["form", {}],
              ["page", { id: "a" }],
              ["roots", {}]
            ]
            for (const [tool, args] of calls) {
              const { code, data } = yield* Effect.flip(client.call(tool, args))
              assert.strictEqual(code, -32600, tool)
              assert.containsAllKeys(data, ["requiredCapabilities"])
            }
          }))

        it.scoped("notify of changed lists", () =>
          Effect.gen(function*() {
            const { client } = yield* alone
            for (const [n, kind] of ["tool", "resource", "prompt"].entries()) {
              yield* client.call("offer", { kind, name: `more-${kind}` })
              yield* until(() => client.changes.length > n)
            }
            assert.deepStrictEqual(client.changes, ["tools", "resources", "prompts"])
            yield* client.call("withdraw", { name: "more-tool" })
            yield* until(() => client.changes.length > 3)
            assert.deepStrictEqual(client.changes.slice(3), ["tools"])
          }))

        it.scoped("give each client a session layer, and release it when the client closes", () =>
          Effect.gen(function*() {
            const { client, served } = yield* alone
            const other = yield* connect(served)
            assert.deepStrictEqual((yield* client.call("count")).content, text("official: 1"))
            assert.deepStrictEqual((yield* client.call("count")).content, text("official: 2"))
            assert.deepStrictEqual((yield* other.call("count")).content, text("official: 1"))
            assert.notInclude(served.reports.lines(), "official closed")
            yield* other.terminate
            yield* other.close
            yield* served.reports.until("official closed")
            assert.deepStrictEqual((yield* client.call("count")).content, text("official: 3"))
          }))

        it.scoped("close the server during a call: the call is answered", () =>
          Effect.gen(function*() {
            const { client, served } = yield* alone
            const name = key()
            const calling = yield* Effect.fork(Effect.flip(client.call("hold", { key: name })))
            yield* served.reports.until(`${name} began`)
            yield* served.close
            assert.strictEqual((yield* Fiber.join(calling)).code, -32000)
            assert.include(served.reports.lines(), `${name} stopped`)
          }))
      }
    )
  }
}
