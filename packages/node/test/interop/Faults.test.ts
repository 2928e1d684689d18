import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Scope } from "effect"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { node, until } from "../Fixture.js"
import { bundledOnce } from "./Bundle.js"

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
  return {
    ...pipes,
    /** Checks that the server continues to serve, and that the call ends with its result. */
    undisturbed: Effect.gen(function*() {
      assert.deepStrictEqual(yield* pipes.call("echo", { text: "on" }), echo)
      yield* pipes.call("release")
      const [answer] = yield* pipes.answers("slow")
      assert.deepStrictEqual(answer.result.structuredContent, { steps: 0 })
    })
  }
})

describe("A server of Effect MCP on real pipes answers", () => {
  it.scopedLive("a line that is not JSON with one parse error", () =>
    Effect.gen(function*() {
      const { answers, undisturbed, write } = yield* served
      yield* write("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\"\n")
      const [{ error }] = yield* answers(undefined)
      assert.strictEqual(error.code, -32700)
      yield* undisturbed
      assert.lengthOf(yield* answers(undefined), 1)
    }))

  it.scopedLive("JSON that is no message with one error each, with its id if it has one", () =>
    Effect.gen(function*() {
      const { answers, received, undisturbed, write } = yield* served
      yield* write(
        "[]\n7\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":8}\n{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"ping\"}\n"
      )
      assert.strictEqual((yield* answers(7))[0].error.code, -32600)
      assert.strictEqual((yield* answers(9))[0].error.code, -32600)
      assert.lengthOf(yield* answers(undefined, 2), 2)
      yield* undisturbed
      assert.lengthOf(received().filter(({ error }) => error !== undefined), 4)
    }))

  it.scopedLive("a line of 20 MB with one parse error, under the id at its beginning", () =>
    Effect.gen(function*() {
      const { answers, undisturbed, write } = yield* served
      const piece = "x".repeat(1024 * 1024)
      yield* write("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"text\":\"")
      for (let i = 0; i < 20; i++) yield* write(piece)
      yield* write("\"}}\n")
      const [{ error }] = yield* answers(7)
      assert.strictEqual(error.code, -32700)
      yield* undisturbed
      assert.lengthOf(yield* answers(7), 1)
    }))

  it.scopedLive("a request before `initialize` with one error, and completes the handshake afterwards", () =>
    Effect.gen(function*() {
      const { answers, call, say } = yield* wire
      yield* say(
        Message.request(1, "tools/list"),
        Message.request(2, "ping"),
        Message.request(3, "ours/do"),
        initialize,
        Message.request(4, "tools/list")
      )
      const [early] = yield* answers(1)
      assert.strictEqual(early.error.code, -32602)
      assert.deepStrictEqual((yield* answers(2))[0].result, {})
      assert.strictEqual((yield* answers(3))[0].error.code, -32601)
      assert.strictEqual((yield* answers("init"))[0].result.protocolVersion, "2025-11-25")
      assert.isArray((yield* answers(4))[0].result.tools)
      assert.deepStrictEqual(yield* call("echo", { text: "on" }), echo)
    }))

  it.scopedLive("a second request with the id of an open one with one error, and continues the first", () =>
    Effect.gen(function*() {
      const { answers, say } = yield* served
      yield* say(Message.request("slow", "ping"))
      const [refused] = yield* answers("slow")
      assert.strictEqual(refused.error.code, -32600)
      assert.deepStrictEqual((yield* Effect.zipRight(say(Message.request(7, "ping")), answers(7)))[0].result, {})
      yield* say(Message.request(8, "tools/call", { name: "release" }))
      const [, answer] = yield* answers("slow", 2)
      assert.deepStrictEqual(answer.result.structuredContent, { steps: 0 })
      // The id can be used again.
      yield* say(Message.request("slow", "ping"))
      assert.deepStrictEqual((yield* answers("slow", 3))[2].result, {})
    }))

  it.scopedLive("an unknown method, an unknown tool and bad parameters with one error each", () =>
    Effect.gen(function*() {
      const { answers, call, say, undisturbed } = yield* served
      yield* say(Message.request(1, "ours/do", { a: 1 }), Message.request(2, "tools/call", { arguments: {} }))
      assert.strictEqual((yield* answers(1))[0].error.code, -32601)
      assert.strictEqual((yield* answers(2))[0].error.code, -32602)
      assert.strictEqual((yield* call("forget")).code, -32602)
      yield* undisturbed
    }))

  it.scopedLive("unknown notifications, and cancellations and responses without a request, with nothing", () =>
    Effect.gen(function*() {
      const { received, say, undisturbed } = yield* served
      yield* say(
        Message.notification("notifications/ours", { a: 1 }),
        Message.notification("notifications/cancelled", { requestId: "unknown" }),
        Message.notification("notifications/cancelled", {}),
        Message.notification("notifications/progress", { progressToken: 1, progress: 1 }),
        Message.success(7, {}),
        Message.failure(8, { code: 1, message: "no" }),
        Message.failure(undefined, { code: 1, message: "no" })
      )
      yield* undisturbed
      assert.lengthOf(received().filter(({ error }) => error !== undefined), 0)
    }))

  it.scopedLive("a call of a tool that dies with one result, without the cause", () =>
    Effect.gen(function*() {
      const { call, stderr, undisturbed } = yield* served
      assert.deepStrictEqual(yield* call("die"), { content: [{ type: "text", text: "Internal error" }], isError: true })
      yield* until(() => stderr().includes("hunter2"))
      yield* undisturbed
    }))

  it.scopedLive("prints of its handlers with nothing: standard output carries only protocol messages", () =>
    Effect.gen(function*() {
      const { call, received, stderr, undisturbed } = yield* served
      yield* call("print")
      yield* until(() => stderr().match(/printed by /g)?.length === 5)
      yield* undisturbed
      // initialize, print, echo, release and slow
      assert.lengthOf(received(), 5)
    }))

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

  it.scopedLive("a last line without a newline", () =>
    Effect.gen(function*() {
      const { answers, endInput, exited, write } = yield* wire
      yield* write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"met")
      yield* endInput
      assert.strictEqual(yield* exited, 0)
      assert.deepStrictEqual((yield* answers(1))[0].result, {})
      assert.strictEqual((yield* answers(undefined))[0].error.code, -32700)
    }))

  it.scopedLive("all of these at once with one error for each", () =>
    Effect.gen(function*() {
      const { answers, call, received, say, write } = yield* served
      yield* write("nonsense\n[1,2]\n")
      yield* say(Message.request("slow", "ping"), Message.request(1, "ours/do"), initialize)
      yield* call("die")
      yield* call("print")
      yield* answers(undefined, 2)
      yield* answers(1)
      yield* answers("init", 2)
      assert.strictEqual((yield* answers("slow"))[0].error.code, -32600)
      yield* call("release")
      assert.deepStrictEqual((yield* answers("slow", 2))[1].result.structuredContent, { steps: 0 })
      assert.deepStrictEqual(yield* call("echo", { text: "on" }), echo)
      assert.lengthOf(received().filter(({ error }) => error !== undefined), 5)
      assert.lengthOf(received().filter(({ result }) => result?.isError === true), 1)
    }))
})
