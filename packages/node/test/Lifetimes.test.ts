/**
 * When a process that serves on its standard streams, alone or beside HTTP, ends: with its last listener, and not before.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Exit, Fiber, Scope } from "effect"
import { spawn } from "node:child_process"
import { bundled, node, until } from "./Fixture.js"
import { ask, call, initialize, open } from "./HttpFixture.js"
import { isRunning } from "./Processes.js"

const scope = Effect.runSync(Scope.make())
let program = ""
beforeAll(async () => {
  program = await Effect.runPromise(Scope.extend(bundled("lifetimeServer.ts"), scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const line = (message: Message.Message) => JSON.stringify(message) + "\n"

/** Starts the fixture; `input` is what its standard input is. */
const start = (http: string, input: "pipe" | "ignore" = "pipe") =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(node, [program, http], { stdio: [input, "pipe", "pipe"] })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    let out = ""
    let err = ""
    child.stdout!.setEncoding("utf8").on("data", (text: string) => out += text)
    child.stderr!.setEncoding("utf8").on("data", (text: string) => err += text)
    const answer = (id: number) => {
      const find = () => out.split("\n").slice(0, -1).map((text) => JSON.parse(text)).find((one) => one.id === id)
      return Effect.map(until(() => find() !== undefined || isOver()), () => find() ?? assert.fail(err))
    }
    const isOver = () => child.stderr!.readableEnded && child.stdout!.readableEnded
    const reports = (text: string, times = 1) =>
      Effect.map(until(() => err.split(text).length > times || isOver()), () => assert.include(err, text))
    yield* reports("serving")
    if (shells.includes(http) || http === "brief") yield* reports("url=")
    return {
      child,
      answer,
      reports,
      stderr: () => err,
      url: /url=(.*)/.exec(err)?.[1] ?? "",
      say: (...messages: ReadonlyArray<Message.Message>) => child.stdin!.write(messages.map(line).join("")),
      exited: Effect.map(until(() => child.exitCode !== null || child.signalCode !== null), () => child.exitCode)
    }
  })

type Started = Effect.Effect.Success<ReturnType<typeof start>>

const isServing = ({ child, url }: Started): Effect.Effect<void, Error, Scope.Scope> =>
  Effect.gen(function*() {
    const session = yield* open(url)
    assert.deepStrictEqual((yield* ask(url, call(7, "quick"), session)).json.result.content, [])
    assert.isTrue(isRunning(child.pid!))
  })

const shells = ["node", "platform"]

describe("A process that serves on standard streams", () => {
  it.scopedLive("ends with its input, after the answers and the finalizers", () =>
    Effect.gen(function*() {
      const server = yield* start("none")
      server.say(initialize(), Message.notification("notifications/initialized"))
      server.child.stdin!.end(line(call(1, "quick")))
      assert.deepStrictEqual((yield* server.answer(1)).result.content, [])
      assert.strictEqual(yield* server.exited, 0)
      yield* server.reports("finalized")
    }))

  it.scopedLive("ends when its client does not answer the pings of its heartbeat", () =>
    Effect.gen(function*() {
      const server = yield* start("beating")
      server.say(initialize(), Message.notification("notifications/initialized"), call(1, "wait"))
      yield* server.reports("stopped")
      assert.strictEqual(yield* server.exited, 0)
      yield* server.reports("finalized")
    }))

  it.scopedLive("ends at once without input", () =>
    Effect.gen(function*() {
      const child = spawn(node, [program], { stdio: ["ignore", "ignore", "ignore"] })
      yield* until(() => child.exitCode !== null || child.signalCode !== null)
      assert.strictEqual(child.exitCode, 0)
    }))

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it.scopedLive(`stops its calls and answers them on ${signal}`, () =>
      Effect.gen(function*() {
        const server = yield* start("none")
        server.say(initialize(), Message.notification("notifications/initialized"), call(1, "wait"))
        yield* server.reports("waiting")
        server.child.kill(signal)
        assert.strictEqual((yield* server.answer(1)).error.code, -32000)
        assert.strictEqual(yield* server.exited, 0)
        yield* server.reports("stopped")
        yield* server.reports("finalized")
      }))
  }
})

for (const http of shells) {
  describe(`A process that serves on standard streams and over HTTP (${http})`, () => {
    it.scopedLive("serves over HTTP after its input has ended, until SIGTERM", () =>
      Effect.gen(function*() {
        const server = yield* start(http)
        server.say(initialize())
        yield* server.answer(0)
        server.child.stdin!.end()
        yield* isServing(server)
        server.child.kill("SIGTERM")
        assert.strictEqual(yield* server.exited, 0)
        yield* server.reports("finalized")
      }))

    it.scopedLive("serves over HTTP when it has no input from the start", () =>
      Effect.gen(function*() {
        const server = yield* start(http, "ignore")
        // An input without content has ended before the first of these exchanges.
        yield* isServing(server)
        yield* isServing(server)
        server.child.kill("SIGINT")
        assert.strictEqual(yield* server.exited, 0)
        yield* server.reports("finalized")
      }))

    it.scopedLive("serves over HTTP when its output has no reader", () =>
      Effect.gen(function*() {
        const server = yield* start(http)
        server.child.stdout!.destroy()
        server.say(initialize(), call(1, "quick"))
        yield* isServing(server)
        server.child.kill("SIGTERM")
        assert.strictEqual(yield* server.exited, 0)
      }))

    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      it.scopedLive(`stops the calls of both and answers them on ${signal}`, () =>
        Effect.gen(function*() {
          const server = yield* start(http)
          server.say(initialize(), Message.notification("notifications/initialized"), call(1, "wait"))
          const session = yield* open(server.url)
          const asked = yield* Effect.fork(ask(server.url, call(2, "wait"), session))
          yield* server.reports("waiting", 2)
          server.child.kill(signal)
          assert.strictEqual((yield* server.answer(1)).error.code, -32000)
          assert.include((yield* Fiber.join(asked)).text, "-32000")
          assert.strictEqual(yield* server.exited, 0)
          yield* server.reports("stopped", 2)
          yield* server.reports("finalized")
        }))
    }
  })
}

describe("A process whose HTTP listener ends", () => {
  it.scopedLive("serves on standard streams until its input ends", () =>
    Effect.gen(function*() {
      const server = yield* start("brief")
      const session = yield* open(server.url)
      yield* ask(server.url, call(1, "close"), session)
      server.say(initialize(), Message.notification("notifications/initialized"), call(1, "quick"))
      assert.deepStrictEqual((yield* server.answer(1)).result.content, [])
      server.child.stdin!.end()
      assert.strictEqual(yield* server.exited, 0)
    }))

  it.scopedLive("ends when its input has ended before", () =>
    Effect.gen(function*() {
      const server = yield* start("brief", "ignore")
      yield* isServing(server)
      const session = yield* open(server.url)
      yield* ask(server.url, call(1, "close"), session)
      assert.strictEqual(yield* server.exited, 0)
      yield* server.reports("finalized")
    }))
})
