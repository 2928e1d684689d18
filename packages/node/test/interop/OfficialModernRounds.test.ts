import { assert } from "@effect/vitest"
import { LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client"
import { Effect, Fiber } from "effect"
import { key, Setting, text, timedOut } from "../behaviour/Behaviour.js"
import * as Contract from "../behaviour/Contract.js"
import { until } from "../HttpFixture.js"
import { each, failureOf, methodsOf, resultTypes, Shared } from "./OfficialModernSetting.js"

each((it, { alone, another, transport }) => {
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
      const [cancelled, beside] = [key(), key()]
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
      const late = yield* timedOut(served.reports.lines, (key, timeout) => client.call("hold", { key }, { timeout }))
      assert.match(late.error.message, /timed out/i)
      yield* served.reports.until(`${late.name} stopped`)
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

  it.scoped("ask before a resource is read and before a prompt is given", () =>
    Effect.gen(function*() {
      const client = yield* another({ elicitation: () => ({ action: "accept", content: { name: "Ada" } }) })
      const { contents } = yield* client.ask((sdk) => sdk.readResource({ uri: Contract.Asked.uri }))
      assert.strictEqual(contents[0].text, "Read by Ada")
      assert.deepStrictEqual(resultTypes(client).slice(-2), ["input_required", "complete"])
      const { messages } = yield* client.ask((sdk) => sdk.getPrompt({ name: "ask" }))
      assert.strictEqual(messages[0].content.text, "Greet Ada.")
      assert.deepStrictEqual(resultTypes(client).slice(-2), ["input_required", "complete"])
    }))

  it.scoped("read a resource again that the server lets the client cache only after it has changed", () =>
    Effect.gen(function*() {
      const { client, served } = yield* alone
      const { uri } = Contract.Kept
      const reads = () => served.reports.lines().filter((line) => line === `read ${uri}`).length
      const read = client.ask((sdk) => sdk.readResource({ uri }))
      yield* Effect.replicateEffect(read, 3)
      assert.strictEqual(reads(), 1)
      yield* client.listen({ resourceSubscriptions: [uri] })
      yield* client.call("touch")
      yield* until(() => client.updates.length > 0)
      yield* Effect.replicateEffect(read, 3)
      assert.strictEqual(reads(), 2)
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
})
