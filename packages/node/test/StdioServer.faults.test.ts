import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { bundledOnce } from "./Bundle.js"
import { node, until } from "./Fixture.js"

const program = bundledOnce("toolServer.ts")

interface Wire {
  readonly say: (...messages: ReadonlyArray<Message.Message>) => Effect.Effect<void>
  readonly write: (text: string) => Effect.Effect<void>
  readonly endInput: Effect.Effect<void>
  /** All lines of its standard output, parsed: a line that is not JSON fails the test. */
  readonly received: () => ReadonlyArray<any>
  /** Waits for this number of responses with the id, and returns them. */
  readonly answers: (id: Message.RequestId | undefined, count?: number) => Effect.Effect<ReadonlyArray<any>>
  readonly call: (name: string, args?: Message.Params) => Effect.Effect<any>
  readonly stderr: () => string
  /** Waits until it has exited and all its output was read. */
  readonly exited: Effect.Effect<number | null>
}

/** A server of Effect MCP, and the ends of its pipes. */
const wire: Effect.Effect<Wire, never, Scope.Scope> = Effect.gen(function*() {
  const path = yield* program
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(node, [path], { stdio: ["pipe", "pipe", "pipe"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let out = ""
  let err = ""
  let closed = false
  child.on("close", () => closed = true)
  child.stdin.on("error", () => {})
  child.stdout.setEncoding("utf8").on("data", (text) => out += text)
  child.stderr.setEncoding("utf8").on("data", (text) => err += text)
  const received = () =>
    out.split("\n").slice(0, -1).map((line) => {
      const message = Message.fromUnknown(JSON.parse(line))
      assert.isFalse(Message.isMalformed(message), line)
      return message as any
    })
  const write = (text: string) =>
    Effect.async<void>((resume) => {
      child.stdin.write(text, () => resume(Effect.void))
    })
  const say: Wire["say"] = (...messages) => write(messages.map((message) => JSON.stringify(message) + "\n").join(""))
  const answers: Wire["answers"] = (id, count = 1) => {
    const find = () => received().filter((message) => message.method === undefined && message.id === id)
    return Effect.map(until(() => find().length >= count), find)
  }
  let last = 1000
  return {
    say,
    write,
    endInput: Effect.sync(() => child.stdin.end()),
    received,
    answers,
    call: (name, args) =>
      Effect.suspend(() => {
        const id = last++
        return Effect.zipRight(
          say(Message.request(id, "tools/call", { name, ...(args === undefined ? {} : { arguments: args }) })),
          Effect.map(answers(id), ([answer]) => answer.result ?? answer.error)
        )
      }),
    stderr: () => err,
    exited: Effect.map(until(() => closed), () => child.exitCode)
  }
})

const initialize = Message.request("init", "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bare", version: "0.0.0" }
})

const slow = (id: Message.RequestId) =>
  Message.request(id, "tools/call", { name: "slow", arguments: { steps: 0, then: "wait" } })

const echo = { content: [{ type: "text", text: "on" }] }

/** A server after the handshake, with an open call that the test must not affect. */
const served = Effect.gen(function*() {
  const pipes = yield* wire
  yield* pipes.say(initialize, Message.notification("notifications/initialized"), slow("slow"))
  yield* until(() => pipes.stderr().includes("slow began"))
  return pipes
})

describe("A server of Effect MCP on real pipes answers", () => {
  it.scopedLive("the end of its input during a call by exiting: it interrupts the handler, and answers each call at most once", () =>
    Effect.gen(function*() {
      const { endInput, exited, received, say, stderr } = yield* served
      yield* say(slow("beside"))
      yield* until(() => stderr().split("slow began").length === 3)
      yield* endInput
      assert.strictEqual(yield* exited, 0)
      assert.lengthOf(stderr().match(/slow stopped/g)!, 2)
      const closed = { code: -32000, message: "Connection closed" }
      for (const id of ["slow", "beside"]) {
        assert.deepStrictEqual(received().filter((message) => message.id === id).map(({ error }) => error), [closed])
      }
    }))

  it.scopedLive("nonsense, a batch, an id in use and an unknown method with one error each, and a second client with a session, all sent at once", () =>
    Effect.gen(function*() {
      const { answers, call, received, say, write } = yield* served
      yield* write("nonsense\n[1,2]\n")
      yield* say(Message.request("slow", "ping"), Message.request(1, "ours/do"), initialize)
      yield* call("die")
      yield* call("print")
      yield* answers(undefined, 2)
      yield* answers(1)
      assert.lengthOf((yield* answers("init", 2)).filter(({ result }) => result !== undefined), 2)
      assert.strictEqual((yield* answers("slow"))[0].error.code, -32600)
      yield* call("release")
      assert.deepStrictEqual((yield* answers("slow", 2))[1].result.structuredContent, { steps: 0 })
      assert.deepStrictEqual(yield* call("echo", { text: "on" }), echo)
      assert.lengthOf(received().filter(({ error }) => error !== undefined), 4)
      assert.lengthOf(received().filter(({ result }) => result?.isError === true), 1)
    }))
})
