import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { Version } from "@effect-mcp/core/protocol/Version"
import type { Registry } from "@effect-mcp/core/Registry"
import { type AskedTask, type AskError, ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Deferred, Effect, Exit, Fiber, Layer, Option, Stream, TestClock } from "effect"
import { act, call, connect, serve, unchecked } from "../Serving.js"
import { answer, asking, refuse } from "./Asking.js"

const prompt = { messages: [{ role: "user", content: { type: "text", text: "hello" } }], maxTokens: 10 } as const
const sampled = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const
const asTasks = {
  elicitation: { form: {} },
  sampling: {},
  tasks: { cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } }
}

const task = (status: string, rest: JsonObject = {}) => ({
  taskId: "t1",
  status,
  createdAt: "2025-11-25T00:00:00Z",
  lastUpdatedAt: "2025-11-25T00:00:00Z",
  ttl: 60_000,
  pollInterval: 3000,
  ...rest
})

/** A client that is asked as a task by a handler, after it has answered with a task. */
const asked = <A, E, R>(
  use: (task: AskedTask<unknown>) => Effect.Effect<A, E, R>,
  body: (peer: TestPeer, outcome: Effect.Effect<Exit.Exit<A, E | AskError>>) => Effect.Effect<void, unknown>,
  question: Ask.Question<unknown> = Ask.sample(prompt)
) =>
  Effect.gen(function*() {
    const { live, outcome } = yield* asking(({ askAsTask }) =>
      Effect.flatMap(askAsTask(question, { ttl: "1 minute" }), use) as Effect.Effect<A, E | AskError>
    )
    yield* Effect.gen(function*() {
      const peer = yield* connect("2025-11-25", asTasks)
      const id = yield* call(peer, "act")
      const request = yield* peer.next
      assert.isTrue("method" in request && "id" in request)
      yield* answer(peer, request as never, { task: task("working") })
      yield* body(peer, outcome)
      yield* peer.expectResult(id)
    }).pipe(Effect.scoped, Effect.provide(serve(live)))
  })

const poll = (peer: TestPeer, status: string, rest?: JsonObject) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(2999)
    yield* peer.expectSilence
    yield* TestClock.adjust(1)
    const request = yield* peer.expectRequest("tasks/get")
    assert.deepStrictEqual<unknown>(request.params, { taskId: "t1" })
    yield* answer(peer, request, task(status, rest))
  })

describe("A question as a task", () => {
  it.effect("is sent with how long the client should keep it, and gives the answer: SHOULD be read at the client's pace", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking(({ askAsTask }) =>
        Effect.flatMap(askAsTask(Ask.sample(prompt), { ttl: "1 minute" }), ({ result }) => result)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect("2025-11-25", asTasks)
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("sampling/createMessage")
        assert.deepStrictEqual<unknown>(question.params, { ...prompt, task: { ttl: 60_000 } })
        yield* answer(peer, question, { task: task("working") })
        yield* poll(peer, "working")
        yield* poll(peer, "completed")
        const result = yield* peer.expectRequest("tasks/result")
        assert.deepStrictEqual<unknown>(result.params, { taskId: "t1" })
        yield* answer(peer, result, {
          ...sampled,
          _meta: { "io.modelcontextprotocol/related-task": { taskId: "t1" } }
        })
        yield* peer.expectResult(id)
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
      const exit = yield* outcome
      assert.strictEqual(Exit.isSuccess(exit) ? exit.value.model : "", "m")
    }))

  it.effect("asks a person as well, and decodes what they have answered", () =>
    asked(({ result }) => result, (peer, outcome) =>
      Effect.gen(function*() {
        yield* poll(peer, "completed")
        yield* answer(peer, yield* peer.expectRequest("tasks/result"), { action: "accept", content: {} })
        assert.deepStrictEqual(yield* outcome, Exit.succeed(true))
      }), Ask.confirm("Sure?")))

  it.effect("is fetched early when the client needs input for it, and the request then waits as long as a person does", () =>
    asked(({ result }) => result, (peer, outcome) =>
      Effect.gen(function*() {
        yield* poll(peer, "input_required")
        const result = yield* peer.expectRequest("tasks/result")
        yield* Effect.forEach(
          Array.from({ length: 10 }),
          () =>
            Effect.zipRight(
              TestClock.adjust("1 minute"),
              Effect.flatMap(peer.expectRequest("tasks/get"), (get) => answer(peer, get, task("input_required")))
            )
        )
        yield* answer(peer, result, sampled)
        assert.isTrue(Exit.isSuccess(yield* outcome))
      })))

  it.effect("fails with the error of the client", () =>
    asked(({ result }) => Effect.flip(result), (peer, outcome) =>
      Effect.gen(function*() {
        yield* poll(peer, "failed", { statusMessage: "no" })
        yield* refuse(peer, yield* peer.expectRequest("tasks/result"), { code: -1, message: "User rejected" })
        const exit = yield* outcome
        assert.deepInclude(Exit.isSuccess(exit) ? exit.value : {}, { _tag: "PeerError", code: -1 })
      })))

  it.effect("fails when it was cancelled, without a request for its result", () =>
    asked(({ result }) => Effect.flip(result), (peer, outcome) =>
      Effect.gen(function*() {
        yield* poll(peer, "cancelled")
        const exit = yield* outcome
        assert.deepInclude(Exit.isSuccess(exit) ? exit.value : {}, { _tag: "PeerError", code: -32800 })
      })))

  it.effect("shows its status until it has ended", () =>
    asked(
      ({ status }) =>
        Effect.map(Stream.runCollect(status), (all) => Chunk.toReadonlyArray(all).map(({ status }) => status)),
      (peer, outcome) =>
        Effect.gen(function*() {
          yield* poll(peer, "input_required")
          yield* poll(peer, "completed")
          assert.deepStrictEqual(yield* outcome, Exit.succeed(["working", "input_required", "completed"]))
        })
    ))

  it.effect("is cancelled by the handler; a task that has ended before is not a failure", () =>
    asked(({ cancel }) => Effect.zipRight(cancel, cancel), (peer, outcome) =>
      Effect.gen(function*() {
        const first = yield* peer.expectRequest("tasks/cancel")
        assert.deepStrictEqual<unknown>(first.params, { taskId: "t1" })
        yield* answer(peer, first, task("cancelled"))
        yield* refuse(peer, yield* peer.expectRequest("tasks/cancel"), { code: -32602, message: "it has ended" })
        yield* answer(peer, yield* peer.expectRequest("tasks/get"), task("cancelled"))
        assert.deepStrictEqual(yield* outcome, Exit.void)
      })))

  it.effect("can be cancelled after the request of its handler has ended", () =>
    Effect.gen(function*() {
      const handle = yield* Deferred.make<AskedTask<unknown>>()
      const live = act(Effect.flatMap(
        ServerSession,
        ({ askAsTask }) =>
          Effect.flatMap(Effect.orDie(askAsTask(Ask.sample(prompt))), (task) => Deferred.succeed(handle, task))
      ))
      yield* Effect.gen(function*() {
        const peer = yield* connect("2025-11-25", asTasks)
        const id = yield* call(peer, "act")
        yield* answer(peer, yield* peer.expectRequest("sampling/createMessage"), { task: task("working") })
        yield* peer.expectResult(id)
        const { cancel, taskId } = yield* Deferred.await(handle)
        assert.deepStrictEqual(taskId, Option.some("t1"))
        const cancelling = yield* Effect.fork(cancel)
        yield* answer(peer, yield* peer.expectRequest("tasks/cancel"), task("cancelled"))
        yield* Fiber.join(cancelling)
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))

  it.effect("is answered when a client that declares tasks answers at once", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking(({ askAsTask }) =>
        Effect.flatMap(askAsTask(Ask.confirm("Sure?")), ({ cancel, result, status, taskId }) =>
          Effect.all([Effect.succeed(taskId), result, Stream.runCollect(status), cancel]))
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect("2025-11-25", asTasks)
        const id = yield* call(peer, "act")
        yield* answer(peer, yield* peer.expectRequest("elicitation/create"), { action: "decline" })
        yield* peer.expectResult(id)
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
      assert.deepStrictEqual(yield* outcome, Exit.succeed([Option.none(), false, Chunk.empty(), undefined]))
    }))

  for (const [what, answered] of [["no task", { task: { taskId: 1 } }], ["nothing of both", {}]] as const) {
    it.effect(`fails when the client answers with ${what}`, () =>
      Effect.gen(function*() {
        const { live, outcome } = yield* asking(({ askAsTask }) => Effect.flip(askAsTask(Ask.confirm("Sure?"))))
        yield* Effect.gen(function*() {
          const peer = yield* unchecked("2025-11-25", asTasks)
          const id = yield* call(peer, "act")
          yield* answer(peer, yield* peer.expectRequest("elicitation/create"), answered)
          yield* peer.expectResult(id)
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
        const exit = yield* outcome
        assert.deepInclude(Exit.isSuccess(exit) ? exit.value : {}, { _tag: "TransportError", reason: "Decode" })
      }))
  }

  for (
    const [version, capabilities, question, missing] of [
      ["2025-11-25", { sampling: {} }, Ask.sample(prompt), "tasks.requests.sampling.createMessage"],
      [
        "2025-11-25",
        { ...asTasks, tasks: { requests: { sampling: { createMessage: {} } } } },
        Ask.confirm("Sure?"),
        "tasks.requests.elicitation.create"
      ],
      ["2025-06-18", asTasks, Ask.sample(prompt), "tasks.requests.sampling.createMessage"]
    ] as const
  ) {
    it.effect(`SHOULD NOT be sent to a client of ${version} that does not declare ${missing}`, () =>
      Effect.gen(function*() {
        const { live, outcome } = yield* asking(({ askAsTask }) => Effect.flip(askAsTask<unknown>(question)))
        yield* Effect.gen(function*() {
          const peer = yield* connect(version, capabilities)
          yield* peer.expectResult(yield* call(peer, "act"))
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
        const exit = yield* outcome
        assert.strictEqual(
          Exit.isSuccess(exit) ? exit.value.message : "",
          `The client lacks a required capability: ${missing}`
        )
      }))
  }

  for (
    const [version, tags] of [
      ["2026-07-28", ["MissingClientCapability", "MissingClientCapability"]],
      ["2025-11-25", [undefined, "InternalError"]]
    ] as const
  ) {
    it.effect(`is refused for the roots, and from 2026-07-28 on: ${version}`, () =>
      Effect.gen(function*() {
        const tag = <A>(asked: Effect.Effect<A, AskError>) =>
          Effect.match(asked, { onFailure: ({ _tag }) => _tag, onSuccess: () => undefined })
        const { live, outcome } = yield* asking(({ askAsTask }) =>
          Effect.all([tag(askAsTask(Ask.confirm("Sure?"))), tag(askAsTask(Ask.roots))])
        )
        yield* withClient(live, version, ({ callTool }) => callTool("act"))
        assert.deepStrictEqual<unknown>(yield* outcome, Exit.succeed(tags))
      }))
  }
})

/** Our client, which answers as tasks. */
const withClient = <A, E, R>(
  live: Layer.Layer<never, never, Registry>,
  version: Version,
  body: (client: ClientSessionService) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const features = Layer.mergeAll(
      ClientFeatures.elicitation(() => Effect.succeed({ action: "accept" })),
      ClientFeatures.sampling(() => Effect.delay(Effect.succeed(sampled), "1 minute")),
      ClientFeatures.roots(Effect.succeed([])),
      ClientFeatures.tasks({ pollInterval: "10 seconds" })
    )
    return yield* body(yield* Client.make(yield* TestServer.connector(), { versions: [version], features }))
  }).pipe(Effect.scoped, Effect.provide(serve(live)))

describe("A question as a task between server and client", () => {
  it.effect("is answered by the handler of the client while the handler of the server does other work", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking(({ askAsTask, elicit }) =>
        Effect.gen(function*() {
          const task = yield* askAsTask(Ask.sample(prompt))
          const other = yield* elicit({ message: "More?", requestedSchema: { type: "object", properties: {} } })
          const statuses = Effect.map(
            Stream.runCollect(task.status),
            (all) => [...new Set(Chunk.map(all, ({ status }) => status))]
          )
          const [answer, seen] = yield* Effect.all([task.result, statuses], { concurrency: 2 })
          yield* task.cancel
          return [other.action, answer.model, seen]
        })
      )
      yield* withClient(live, "2025-11-25", ({ callTool }) =>
        Effect.gen(function*() {
          const calling = yield* Effect.fork(callTool("act"))
          yield* Effect.repeatN(TestClock.adjust("10 seconds"), 7)
          yield* Fiber.join(calling)
        }))
      assert.deepStrictEqual(yield* outcome, Exit.succeed(["accept", "m", ["working", "completed"]]))
    }))

  it.effect("MUST be marked with the task that the handler serves, and is not a question of that task", () =>
    Effect.gen(function*() {
      const Job = McpServer.tool(Tool.make("job", { task: "optional" }), () =>
        Effect.gen(function*() {
          const { askAsTask } = yield* ServerSession
          const { result } = yield* askAsTask(Ask.confirm("Sure?"))
          return String(yield* result)
        }))
      const server = Layer.provide(serve(Layer.merge(Job, TasksServer.layer)), TaskStore.layerMemory)
      yield* Effect.gen(function*() {
        const peer = yield* connect("2025-11-25", asTasks)
        const begun = yield* peer.expectResult(yield* peer.request("tools/call", { name: "job", task: {} }))
        const own = (begun.task as JsonObject).taskId
        const question = yield* peer.expectRequest("elicitation/create")
        assert.deepStrictEqual<unknown>(question.params?._meta, {
          "io.modelcontextprotocol/related-task": { taskId: own }
        })
        yield* answer(peer, question, { task: task("completed") })
        const result = yield* peer.expectRequest("tasks/result")
        assert.strictEqual(
          (yield* peer.expectResult(yield* peer.request("tasks/get", { taskId: own }))).status,
          "working"
        )
        yield* answer(peer, result, { action: "accept" })
        assert.strictEqual((yield* peer.expectNotification("notifications/tasks/status")).status, "completed")
      }).pipe(Effect.scoped, Effect.provide(server))
    }))
})
