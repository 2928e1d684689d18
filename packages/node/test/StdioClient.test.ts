import { assert, describe, it } from "@effect/vitest"
import type * as Message from "@effect-mcp/core/Message"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Effect, Fiber, Queue, type Scope, Stream } from "effect"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { tmpdir } from "node:os"
import { inspect } from "node:util"
import * as Environment from "../src/subprocess/Environment.js"
import { bundled, connect, fixture, node, talk, until } from "./Fixture.js"
import { isRunning, pidsOf } from "./Processes.js"

const converse = (...args: Parameters<typeof connect>) => Effect.flatMap(connect(...args), talk)

/** Uses a server in a scope, and returns the processes that are left when the scope has closed. */
const leftOver = <A, E>(
  use: (mark: string) => Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<ReadonlyArray<number>, E> =>
  Effect.suspend(() => {
    const mark = randomUUID()
    return Effect.map(Effect.scoped(use(mark)), () => pidsOf(mark))
  })

const range = (count: number) => Array.from({ length: count }, (_, n) => n)

describe("StdioClient", () => {
  it.scopedLive("sends requests and receives results", () =>
    Effect.gen(function*() {
      const { conversation } = yield* converse("server.mjs")
      const answers = yield* Effect.forEach(
        range(64),
        (n) => conversation.request("echo", { n, text: "two\nlines €" }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers, range(64).map((n) => ({ n, text: "two\nlines €" })))
    }))

  it.scopedLive("survives lines that are not messages and bytes that are not UTF-8", () =>
    Effect.gen(function*() {
      const { conversation } = yield* converse("server.mjs")
      yield* conversation.request("garbage")
      for (const byte of range(256)) yield* conversation.request("raw", { bytes: [byte, 0x0a] })
      yield* conversation.request("raw", { bytes: [0xed, 0xa0, 0x80, 0x0a, 0xf4, 0x90, 0x80, 0x80, 0x0a] })
      assert.deepStrictEqual(yield* conversation.request("echo", { n: 1 }), { n: 1 })
    }))

  it.scopedLive("fails the call whose answer is longer than the limit, at once, and goes on", () =>
    Effect.gen(function*() {
      const { conversation } = yield* converse("server.mjs", [], { limits: { maxLineBytes: 1000 } })
      const error = yield* Effect.flip(conversation.request("echo", { text: "x".repeat(2000) }))
      assert.deepInclude(error, {
        _tag: "TransportError",
        reason: "Decode",
        message:
          "Parse error: a line is longer than 1000 bytes; raise the limit maxLineBytes, or ask for a smaller answer"
      })
      assert.deepStrictEqual(yield* conversation.request("echo", { n: 1 }), { n: 1 })
    }))

  it.scopedLive("takes answers that nest deeper than 512 levels where `limits.maxDepth` says so", () =>
    Effect.gen(function*() {
      let deep: Message.Params = {}
      for (let depth = 0; depth < 600; depth++) deep = { deep }
      const { conversation } = yield* converse("server.mjs", [], { limits: { maxDepth: 1000 } })
      assert.deepStrictEqual(yield* conversation.request("echo", { deep }), { deep })
      const other = yield* converse("server.mjs")
      const error = yield* Effect.flip(other.conversation.request("echo", { deep }))
      assert.deepInclude(error, { _tag: "TransportError", reason: "Decode" })
      assert.match(error.message, /nested more than/)
    }))

  it.scopedLive("passes the listed variables and the given ones to the server, and no others", () =>
    Effect.gen(function*() {
      process.env.EFFECT_MCP_SECRET = "secret"
      const { conversation } = yield* converse("server.mjs", ["a b", "$HOME; exit 1"], {
        env: { TOKEN: "t", USER: "somebody", TERM: undefined },
        cwd: tmpdir()
      })
      const { argv, cwd, env } = yield* conversation.request("env")
      const { TERM: _, ...inherited } = Environment.defaultEnvironment()
      // macOS adds a variable.
      const { __CF_USER_TEXT_ENCODING: __, ...seen } = env as Record<string, string>
      assert.deepStrictEqual(seen, { ...inherited, TOKEN: "t", USER: "somebody" })
      assert.include(String(cwd), tmpdir())
      assert.deepStrictEqual(argv, ["a b", "$HOME; exit 1"])
    }))

  it.live("launches a new process for each connection", () =>
    Effect.gen(function*() {
      const left = yield* leftOver((mark) =>
        Effect.gen(function*() {
          const { connect } = StdioClient.connector({ command: node, args: [fixture("server.mjs"), mark] })
          const first = yield* Effect.flatMap(connect, talk)
          const second = yield* Effect.flatMap(connect, talk)
          assert.strictEqual(pidsOf(mark).length, 2)
          yield* first.conversation.request("echo")
          yield* second.conversation.request("echo")
        })
      )
      assert.deepStrictEqual(left, [])
    }))

  describe("when the server ends", () => {
    it.scopedLive("fails every call with the exit code and the last lines of stderr", () =>
      Effect.gen(function*() {
        const { conversation } = yield* converse("server.mjs")
        const waiting = yield* Effect.fork(Effect.flip(conversation.request("hang")))
        const last = "x".repeat(5000) + "\nCannot open the database\n  at line 7\n"
        const error = yield* Effect.flip(conversation.request("die", { code: 3, last }))
        const message =
          `"${node}" exited with code 3; the last lines of its stderr:\nCannot open the database\n  at line 7`
        assert.strictEqual(error._tag, "ConnectionClosed")
        assert.strictEqual(error.message, `Connection closed: ${message}`)
        assert.strictEqual((yield* Fiber.join(waiting)).message, error.message)
        const fault = yield* Effect.flip(conversation.ended)
        assert.strictEqual(fault.reason, "Read")
        assert.strictEqual(fault.message, message)
      }))

    it.scopedLive("quotes nothing of a stderr that the application ignores", () =>
      Effect.gen(function*() {
        const { conversation } = yield* converse("server.mjs", [], { stderr: "ignore" })
        const error = yield* Effect.flip(conversation.request("die", { code: 3, last: "password: hunter2\n" }))
        assert.strictEqual(error.message, `Connection closed: "${node}" exited with code 3`)
        assert.notInclude(inspect(error, { depth: 10, showHidden: true }), "hunter2")
      }))

    it.scopedLive("delivers the messages that the server sent before, also when it exits at once", () =>
      Effect.gen(function*() {
        const { conversation, received } = yield* converse("brief.mjs", ["4"])
        assert.match((yield* Effect.flip(conversation.ended)).message, /exited with code 4$/)
        assert.strictEqual((yield* Queue.take(received)).method, "notifications/bye")
        const error = yield* Effect.flip(conversation.request("echo"))
        assert.strictEqual(error._tag, "ConnectionClosed")
      }))

    it.scopedLive("delivers the messages that the server sent before to a late reader of the stream", () =>
      Effect.gen(function*() {
        const mark = randomUUID()
        const transport = yield* connect("brief.mjs", ["0", mark])
        yield* until(() => pidsOf(mark).length === 0)
        const messages = yield* Stream.runCollect(transport.incoming)
        assert.deepStrictEqual(
          Chunk.toArray(messages).map((message) => (message as Message.Notification).method),
          ["notifications/bye"]
        )
      }))

    it.scopedLive("does not crash a process that writes to it", () =>
      Effect.gen(function*() {
        const { conversation } = yield* converse("brief.mjs", ["1"])
        yield* Effect.forEach(range(200), () => conversation.notify("notifications/late", { text: "x".repeat(1000) }))
        assert.match((yield* Effect.flip(conversation.ended)).message, /exited with code 1/)
        yield* conversation.notify("notifications/late")
      }))

    it.scopedLive("does not wait for other processes that hold its pipes open", () =>
      Effect.gen(function*() {
        const mark = randomUUID()
        const { conversation, received } = yield* converse("tree.mjs", ["3", "stay", mark], {
          closeTimeouts: { grace: 0, terminate: 0 }
        })
        yield* Queue.take(received)
        const [leader] = [...pidsOf(mark)].sort((a, b) => a - b)
        process.kill(leader!, "SIGKILL")
        assert.match((yield* Effect.flip(conversation.ended)).message, /was ended by SIGKILL/)
        assert.strictEqual(pidsOf(mark).length, 2)
      }))
  })

  it.scopedLive("reads no faster than the messages are taken", () =>
    Effect.gen(function*() {
      const transport = yield* connect("server.mjs")
      yield* transport.send({ jsonrpc: "2.0", id: 1, method: "flood", params: { count: 2000, size: 10_000 } })
      const seen = yield* Stream.runCollect(Stream.take(
        Stream.mapEffect(transport.incoming, (message) => Effect.as(Effect.yieldNow(), message)),
        2001
      ))
      assert.deepStrictEqual(
        Chunk.toArray(seen).map((message) => (message as any).params?.n ?? "answer"),
        [...range(2000), "answer"]
      )
    }))

  describe("in a process of its own", () => {
    interface Ended {
      readonly code: number | null
      readonly stdout: string
      readonly stderr: Buffer
    }

    const host = (...args: ReadonlyArray<string>): Effect.Effect<Ended, never, Scope.Scope> =>
      Effect.flatMap(bundled("clientHost.ts"), (program) =>
        Effect.async<Ended>((resume) => {
          const child = spawn(node, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] })
          const out: Array<Buffer> = []
          const err: Array<Buffer> = []
          child.stdout.on("data", (chunk) => out.push(chunk))
          child.stderr.on("data", (chunk) => err.push(chunk))
          child.on("close", (code) =>
            resume(Effect.succeed({ code, stdout: String(Buffer.concat(out)), stderr: Buffer.concat(err) })))
        }))

    for (const mode of ["forward", "inherit"]) {
      it.scopedLive(`passes stderr on byte by byte: ${mode}`, () =>
        Effect.gen(function*() {
          const { code, stderr, stdout } = yield* host(mode, fixture("server.mjs"))
          assert.strictEqual(stdout, "done\n")
          assert.strictEqual(code, 0)
          assert.isTrue(stderr.equals(Buffer.from("plain ä\n\u001b[31mred\u001b[0m\r\nno end")))
        }))
    }

    it.scopedLive("leaves no timer, listener or handle that keeps the process alive", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* host("handles", fixture("server.mjs"))
        assert.strictEqual(String(stderr), "")
        const { after, before, listeners } = JSON.parse(stdout)
        assert.deepStrictEqual(after, before)
        assert.deepStrictEqual(listeners, [])
        assert.strictEqual(code, 0)
      }))

    it.scopedLive("exits when its client is killed, because its input ends", () =>
      Effect.gen(function*() {
        const program = yield* bundled("clientHost.ts")
        const mark = randomUUID()
        const client = spawn(node, [program, "hang", fixture("server.mjs"), mark], { stdio: "ignore" })
        yield* until(() => pidsOf(mark).length === 2)
        client.kill("SIGKILL")
        yield* until(() => pidsOf(mark).length === 0)
        assert.isFalse(isRunning(client.pid!))
      }))
  })
})
