/**
 * A call goes on in many requests: rounds, answers, cancels, requests about its task, a stream that is resumed. Each of them needs a
 * token that may make the call, whatever token the call had.
 */
import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Schema, type Scope } from "effect"
import { settled } from "../../testing/test/support/Settled.js"
import * as Protected from "./Protected.js"

const ADMIN = "notes:admin"

/** Asks before it does what only an administrator may do. */
const confirmed = Effect.flatMap(ServerSession, (session) =>
  Effect.zipRight(
    session.progress(1, { message: "asking" }),
    Effect.orDie(session.elicit({ message: "Purge?", schema: Schema.Struct({ sure: Schema.Boolean }) }))
  )).pipe(Effect.as("purged"))

const admin = Feature.requires([ADMIN])

const features = Layer.mergeAll(
  McpServer.tool(Tool.make("purge"), () => confirmed).pipe(admin),
  McpServer.tool(Tool.make("purgeLater", { task: "optional" }), () => confirmed).pipe(admin),
  McpServer.tool(
    Tool.make("survey"),
    () => Effect.flatMap(ServerSession, ({ listRoots }) => Effect.as(Effect.orDie(listRoots), "surveyed"))
  ).pipe(admin),
  McpServer.tool(Tool.make("list", { task: "optional" }), () => Effect.succeed("listed")),
  Layer.provide(TasksServer.layer, TaskStore.layerMemory)
)

const accepted = { action: "accept", content: { sure: true } }

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly challenge: string | null
  /** The messages that have come, with the ids of their events. */
  readonly messages: ReadonlyArray<{ readonly id: string | undefined; readonly message: any }>
  /** Disconnects. */
  readonly cut: Effect.Effect<void>
}

/** The response as far as it has come. */
const send = (handler: Protected.Protected["handler"], request: Request): Effect.Effect<Answer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { body, headers, status } = yield* Effect.promise(() => handler(request))
    const messages: Array<{ id: string | undefined; message: any }> = []
    const reader = body?.getReader()
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true
    let text = ""
    const reading = Effect.promise(async () => {
      const decoder = new TextDecoder()
      try {
        for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
          text += decoder.decode(read.value, { stream: true })
          const events = isStream ? text.split("\n\n") : []
          text = events.pop() ?? text
          for (const event of events) {
            const id = /^id: ?(.*)$/m.exec(event)?.[1]
            const data = /^data: ?(\S.*)$/m.exec(event)?.[1]
            if (id !== undefined || data !== undefined) {
              messages.push({ id, message: data === undefined || data.startsWith("/") ? data : JSON.parse(data) })
            }
          }
        }
        if (!isStream && text !== "") messages.push({ id: undefined, message: JSON.parse(text) })
      } catch {
        // It was cut.
      }
    })
    yield* Effect.forkDaemon(reading)
    // Closing would wait for a reader that takes nothing.
    const cut = Effect.promise(() => reader?.cancel() ?? Promise.resolve())
    yield* Effect.addFinalizer(() => cut)
    yield* settled
    return {
      status,
      headers,
      challenge: headers.get("www-authenticate"),
      messages,
      cut
    }
  })

/** A server, two tokens of one user, and the ways to send. */
const world = (options: Protected.Options = {}) =>
  Effect.gen(function*() {
    const { login, server } = yield* Protected.world({ features, events: EventStore.layerMemory, ...options })
    const strong = yield* login.sign({ claims: { scope: `notes:read ${ADMIN}` } })
    const weak = yield* login.sign({ claims: { scope: "notes:read" } })
    const post = (token: string, message: unknown, headers: Readonly<Record<string, string>> = {}, path = "/mcp") =>
      send(
        server.handler,
        new Request(`https://mcp.test${path}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...headers
          },
          body: JSON.stringify(message)
        })
      )
    const get = (token: string, headers: Readonly<Record<string, string>> = {}, path = "/mcp") =>
      send(
        server.handler,
        new Request(`https://mcp.test${path}`, {
          headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", ...headers }
        })
      )
    const modern = (token: string, id: number, method: string, params: JsonObject, capabilities: JsonObject = {}) =>
      post(
        token,
        Message.request(id, method, {
          ...params,
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
            "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, ...capabilities }
          }
        }),
        {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(typeof (params["name"] ?? params["taskId"]) === "string"
            ? { "mcp-name": String(params["name"] ?? params["taskId"]) }
            : {})
        }
      )
    /** A session of 2025-11-25, or of another revision. */
    const session = (version = "2025-11-25") =>
      Effect.gen(function*() {
        const opened = yield* post(
          weak,
          Message.request(0, "initialize", {
            protocolVersion: version,
            capabilities: { elicitation: {}, roots: {} },
            clientInfo: { name: "test", version: "1" }
          })
        )
        const headers = { "mcp-session-id": opened.headers.get("mcp-session-id")! }
        const send = (token: string, message: unknown) => post(token, message, headers)
        yield* send(weak, Message.notification("notifications/initialized"))
        return { send, read: (token: string, more = {}) => get(token, { ...headers, ...more }) }
      })
    return { get, modern, post, session, strong, weak }
  })

/** The answer to a call with a token that may not make the call. */
const refuses = ({ challenge, messages, status }: Answer): void => {
  assert.strictEqual(status, 403)
  assert.match(challenge!, /error="insufficient_scope"/)
  assert.match(challenge!, /scope="notes:admin"/)
  assert.notProperty(messages[0]!.message, "result")
}

const resultOf = ({ messages, status }: Answer): any => {
  assert.strictEqual(status, 200, JSON.stringify(messages))
  return messages.at(-1)!.message.result
}

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } }

describe("A weaker token of the same user, at 2026-07-28", () => {
  it.scoped("may not send the next round of a call", () =>
    Effect.gen(function*() {
      const { modern, strong, weak } = yield* world()
      const asked = resultOf(yield* modern(strong, 1, "tools/call", { name: "purge", arguments: {} }))
      assert.strictEqual(asked.resultType, "input_required")
      const [key] = Object.keys(asked.inputRequests)
      const round = {
        name: "purge",
        arguments: {},
        requestState: asked.requestState,
        inputResponses: { [key!]: accepted }
      }
      refuses(yield* modern(weak, 2, "tools/call", round))
      assert.strictEqual(resultOf(yield* modern(strong, 3, "tools/call", round)).content[0].text, "purged")
    }))

  it.scoped("may not get, answer or cancel the task of a call, nor hear of it", () =>
    Effect.gen(function*() {
      const { modern, strong, weak } = yield* world()
      const call = { name: "purgeLater", arguments: {} }
      const { taskId } = resultOf(yield* modern(strong, 1, "tools/call", call, TASKS))
      assert.isString(taskId)
      const { inputRequests } = resultOf(yield* modern(strong, 2, "tasks/get", { taskId }, TASKS))
      const [key] = Object.keys(inputRequests)
      const inputResponses = { [key!]: accepted }
      refuses(yield* modern(weak, 3, "tasks/get", { taskId }, TASKS))
      refuses(yield* modern(weak, 4, "tasks/update", { taskId, inputResponses }, TASKS))
      refuses(yield* modern(weak, 5, "tasks/cancel", { taskId }, TASKS))
      const heard = yield* modern(weak, 6, "subscriptions/listen", { notifications: { taskIds: [taskId] } }, TASKS)
      assert.notInclude(JSON.stringify(heard.messages), taskId)
      resultOf(yield* modern(strong, 7, "tasks/update", { taskId, inputResponses }, TASKS))
      yield* settled
      assert.notInclude(JSON.stringify(heard.messages), taskId)
      const ended = resultOf(yield* modern(strong, 8, "tasks/get", { taskId }, TASKS))
      assert.strictEqual(ended.result.content[0].text, "purged")
      refuses(yield* modern(weak, 9, "tasks/get", { taskId }, TASKS))
    }))

  it.scoped("gets the task of a tool that requires nothing", () =>
    Effect.gen(function*() {
      const { modern, strong, weak } = yield* world()
      const call = { name: "list", arguments: {} }
      const { taskId } = resultOf(yield* modern(strong, 1, "tools/call", call, TASKS))
      assert.strictEqual(resultOf(yield* modern(weak, 2, "tasks/get", { taskId }, TASKS)).taskId, taskId)
    }))
})

describe("A weaker token of the same user, in a session", () => {
  const call = (id: number, name: string, more: object = {}) =>
    Message.request(id, "tools/call", { name, arguments: {}, ...more })

  it.scoped("may not get, read or cancel the task of a call, and does not find it in a list", () =>
    Effect.gen(function*() {
      const { session, strong, weak } = yield* world()
      const { read, send } = yield* session()
      const standalone = yield* read(weak)
      const { task } = resultOf(yield* send(strong, call(1, "purgeLater", { task: { ttl: 60_000 } })))
      const { taskId } = task
      const { tasks } = resultOf(yield* send(weak, Message.request(2, "tasks/list", {})))
      assert.deepStrictEqual(tasks, [])
      refuses(yield* send(weak, Message.request(3, "tasks/get", { taskId })))
      refuses(yield* send(weak, Message.request(4, "tasks/result", { taskId })))
      refuses(yield* send(weak, Message.request(5, "tasks/cancel", { taskId })))
      assert.lengthOf(resultOf(yield* send(strong, Message.request(6, "tasks/list", {}))).tasks, 1)
      const waiting = yield* send(strong, Message.request(7, "tasks/result", { taskId }))
      const question = waiting.messages.find(({ message }) => message?.method === "elicitation/create")!.message
      refuses(yield* send(weak, Message.response(question.id, { result: accepted })))
      assert.strictEqual((yield* send(strong, Message.response(question.id, { result: accepted }))).status, 202)
      yield* settled
      assert.strictEqual(waiting.messages.at(-1)!.message.result.content[0].text, "purged")
      // The stream of the session, which the weaker token has opened, tells nothing of the task.
      assert.notInclude(JSON.stringify(standalone.messages), taskId)
    }))

  for (const [revision, batch] of [["2025-11-25", false], ["2025-03-26", true]] as const) {
    it.scoped(`may not answer a question of a call, nor cancel the call, at ${revision}`, () =>
      Effect.gen(function*() {
        const { session, strong, weak } = yield* world()
        const { send } = yield* session(revision)
        const sent = (token: string, message: unknown) => send(token, batch ? [message] : message)
        const { messages } = yield* send(strong, call(1, "survey"))
        const { id } = messages.find(({ message }) => message?.method === "roots/list")!.message
        const answer = Message.response(id, { result: { roots: [] } })
        refuses(yield* sent(weak, answer))
        refuses(yield* sent(weak, Message.response(String(id), { result: { roots: [] } })))
        refuses(yield* sent(weak, { jsonrpc: "2.0", id, result: 7, error: 7 }))
        refuses(yield* sent(weak, Message.notification("notifications/cancelled", { requestId: 1 })))
        refuses(yield* sent(weak, Message.notification("notifications/cancelled", { requestId: "1" })))
        assert.strictEqual((yield* sent(strong, answer)).status, 202)
        yield* settled
        assert.strictEqual(messages.at(-1)!.message.result.content[0].text, "surveyed")
        // The call has ended: who cancels it, cancels nothing.
        const late = yield* sent(weak, Message.notification("notifications/cancelled", { requestId: 1 }))
        assert.strictEqual(late.status, 202)
      }))
  }

  it.scoped("may not resume the stream of a call, while the call runs and when it has ended", () =>
    Effect.gen(function*() {
      const { session, strong, weak } = yield* world()
      const { read, send } = yield* session()
      const running = yield* send(strong, call(1, "purge"))
      const id = running.messages[0]!.id!
      yield* running.cut
      refuses(yield* read(weak, { "last-event-id": id }))
      const question = running.messages.find(({ message }) => message?.method === "elicitation/create")!.message
      yield* send(strong, Message.response(question.id, { result: accepted }))
      yield* settled
      refuses(yield* read(weak, { "last-event-id": id }))
      // The name of the stream without its scopes is that of no stream.
      const forged = yield* read(weak, { "last-event-id": id.replace(/-[^_]*_/, "_") })
      assert.strictEqual(forged.status, 400)
      const resumed = yield* read(strong, { "last-event-id": id })
      assert.strictEqual(resumed.messages.at(-1)!.message.result.content[0].text, "purged")
    }))

  it.scoped("may not resume the stream of a request for the result of a task", () =>
    Effect.gen(function*() {
      const { session, strong, weak } = yield* world()
      const { read, send } = yield* session()
      const { task } = resultOf(yield* send(strong, call(1, "purgeLater", { task: {} })))
      const waiting = yield* send(strong, Message.request(2, "tasks/result", { taskId: task.taskId }))
      const id = waiting.messages[0]!.id!
      yield* waiting.cut
      refuses(yield* read(weak, { "last-event-id": id }))
      assert.strictEqual((yield* read(strong, { "last-event-id": id })).status, 200)
    }))

  it.scoped("resumes the stream of a call that requires nothing", () =>
    Effect.gen(function*() {
      const { session, strong, weak } = yield* world({ http: { responses: "stream" } })
      const { read, send } = yield* session()
      const { messages } = yield* send(strong, call(1, "list"))
      assert.strictEqual((yield* read(weak, { "last-event-id": messages[0]!.id! })).status, 200)
    }))

  it.scoped("may not answer a question nor cancel a call over HTTP+SSE", () =>
    Effect.gen(function*() {
      const { get, post, strong, weak } = yield* world({ http: { legacy: { ssePath: "/sse" } } })
      const stream = yield* get(strong, {}, "/sse")
      const path = String(stream.messages[0]!.message)
      const send = (token: string, message: unknown) => post(token, message, {}, path)
      yield* send(
        weak,
        Message.request(0, "initialize", {
          protocolVersion: "2025-06-18",
          capabilities: { elicitation: {} },
          clientInfo: { name: "test", version: "1" }
        })
      )
      yield* send(weak, Message.notification("notifications/initialized"))
      assert.strictEqual((yield* send(strong, call(1, "purge"))).status, 202)
      const question = stream.messages.find(({ message }) => message?.method === "elicitation/create")!.message
      refuses(yield* send(weak, Message.response(question.id, { result: accepted })))
      refuses(yield* send(weak, Message.notification("notifications/cancelled", { requestId: 1 })))
      assert.strictEqual((yield* send(strong, Message.response(question.id, { result: accepted }))).status, 202)
      yield* settled
      assert.strictEqual(stream.messages.at(-1)!.message.result.content[0].text, "purged")
      assert.strictEqual(
        (yield* send(weak, Message.notification("notifications/cancelled", { requestId: 1 }))).status,
        202
      )
    }))
})

describe("A token whose scope includes the required one", () => {
  it.scoped("may do with a task what it may do with the tool", () =>
    Effect.gen(function*() {
      const { modern, strong, weak } = yield* world({
        covers: (granted, required) => granted.includes(required) || granted.includes("notes:read")
      })
      const call = { name: "purgeLater", arguments: {} }
      const { taskId } = resultOf(yield* modern(strong, 1, "tools/call", call, TASKS))
      assert.strictEqual(resultOf(yield* modern(weak, 2, "tasks/get", { taskId }, TASKS)).taskId, taskId)
    }))
})
