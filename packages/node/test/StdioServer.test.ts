import { assert, describe, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import * as Message from "@effect-mcp/core/Message"
import * as Side from "@effect-mcp/core/Side"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Chunk, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { PassThrough, Writable } from "node:stream"
import { bundled, node, until } from "./Fixture.js"
import { pidsOf } from "./Processes.js"

const line = (message: Message.Message) => JSON.stringify(message) + "\n"

interface Host {
  readonly child: ChildProcess
  /** All lines of its standard output, parsed: a line that is not JSON fails the test. */
  readonly messages: () => ReadonlyArray<any>
  readonly stdout: () => string
  readonly stderr: () => string
  readonly say: (...messages: ReadonlyArray<Message.Message>) => void
  /** Waits for the response with this id. */
  readonly answer: (id: number) => Effect.Effect<any>
  readonly ask: (method: string, params?: Message.Params) => Effect.Effect<any>
  readonly exited: Effect.Effect<number | null>
}

const host = (...args: ReadonlyArray<string>): Effect.Effect<Host, never, Scope.Scope> =>
  Effect.flatMap(bundled("serverHost.ts"), (program) => start(node, ["--expose-gc", program, ...args]))

const start = (command: string, args: ReadonlyArray<string>): Effect.Effect<Host, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    let out = ""
    let err = ""
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (text) => out += text)
    child.stderr.setEncoding("utf8").on("data", (text) => err += text)
    const messages = () => out.split("\n").slice(0, -1).map((text) => JSON.parse(text))
    const answer = (id: number) => {
      const find = () => messages().find((message) => message.id === id)
      return Effect.map(until(() => find() !== undefined), () => find().result ?? find().error)
    }
    const say = (...messages: ReadonlyArray<Message.Message>) => {
      child.stdin.write(messages.map(line).join(""))
    }
    let last = 1000
    yield* until(() => err.includes("serving"))
    return {
      child,
      messages,
      stdout: () => out,
      stderr: () => err,
      say,
      answer,
      ask: (method, params) => {
        const id = last++
        say(Message.request(id, method, params))
        return answer(id)
      },
      exited: Effect.map(until(() => child.exitCode !== null || child.signalCode !== null), () => child.exitCode)
    }
  })

const range = (count: number) => Array.from({ length: count }, (_, n) => n)

describe("StdioServer", () => {
  describe("with given streams", () => {
    it.scoped("claims no standard stream, and serves any number of clients", () =>
      Effect.gen(function*() {
        const write = process.stdout.write
        const serve = Effect.gen(function*() {
          const input = new PassThrough()
          const output = new PassThrough()
          const transport = yield* StdioServer.transport({ input, output })
          const side = yield* Side.make({ onRequest: ({ params }) => Effect.succeed(params ?? {}) })
          yield* Conversation.make(transport, side)
          return { input, output }
        })
        const [one, two] = yield* Effect.all([serve, serve])
        assert.strictEqual(process.stdout.write, write)
        one.input.write(line(Message.request(1, "echo", { n: 1 })))
        two.input.write(line(Message.request("a", "echo", { n: 2 })))
        const read = (stream: PassThrough) =>
          Effect.async<unknown>((resume) => {
            stream.once("data", (chunk) => resume(Effect.succeed(JSON.parse(String(chunk)))))
          })
        assert.deepStrictEqual(yield* read(one.output), Message.success(1, { n: 1 }))
        assert.deepStrictEqual(yield* read(two.output), Message.success("a", { n: 2 }))
      }))

    it.scoped("ends with its input, after the last message", () =>
      Effect.gen(function*() {
        const input = new PassThrough()
        const transport = yield* StdioServer.transport({ input, output: new PassThrough() })
        input.end("{\"jsonrpc\":\"2.0\",\"method\":\"last\"}")
        assert.strictEqual(Chunk.size(yield* Stream.runCollect(transport.incoming)), 1)
      }))

    it.scoped("ends without an error when its output breaks", () =>
      Effect.gen(function*() {
        const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error("write EPIPE")) })
        const transport = yield* StdioServer.transport({ input: new PassThrough(), output })
        const reading = yield* Effect.fork(Stream.runDrain(transport.incoming))
        yield* Effect.yieldNow()
        transport.unsafeSend(Message.notification("n"))
        yield* Fiber.join(reading)
        const closed = new PassThrough()
        closed.destroy()
        const late = yield* StdioServer.transport({ input: new PassThrough(), output: closed })
        assert.strictEqual(Chunk.size(yield* Stream.runCollect(late.incoming)), 0)
      }))

    it.effect("yields one transport, which lives as long as the surrounding scope", () =>
      Effect.gen(function*() {
        const output = new PassThrough()
        const scope = yield* Scope.make()
        const transports = yield* Scope.extend(
          Stream.runCollect(StdioServer.listener({ input: new PassThrough(), output })),
          scope
        )
        assert.strictEqual(Chunk.size(transports), 1)
        assert.isTrue(Chunk.unsafeHead(transports).unsafeSend(Message.notification("n")))
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(String(output.read()), line(Message.notification("n")))
      }))
  })

  it.scopedLive("answers each request with one line", () =>
    Effect.gen(function*() {
      const { answer, messages, say } = yield* host()
      say(...range(64).map((n) => Message.request(n, "echo", { n, text: "two\nlines €" })))
      for (const n of range(64)) assert.deepStrictEqual(yield* answer(n), { n, text: "two\nlines €" })
      assert.strictEqual(messages().length, 64)
    }))

  it.scopedLive("lets no print of a handler reach standard output", () =>
    Effect.gen(function*() {
      const { ask, messages, stderr, stdout } = yield* host()
      assert.deepStrictEqual(yield* ask("print"), {})
      assert.deepStrictEqual(yield* ask("echo", { n: 1 }), { n: 1 })
      const all = [
        "effect log",
        "effect string",
        "effect json",
        "effect pretty",
        "effect console",
        "console.log",
        "console.info",
        "console.table",
        "stdout.write\n",
        "stdout.write bytes",
        "stderr base64",
        "stdout.write callback",
        "fs.writeSync",
        "fs.writeFileSync",
        "fs.appendFileSync",
        "fs.writeFile\n",
        "fs.appendFile\n",
        "require writeSync",
        "fs.write\n",
        "piped xxx",
        " to its end"
      ]
      yield* until(() => stderr().includes(all.at(-1)!))
      for (const text of all) assert.include(stderr(), text)
      assert.strictEqual(messages().length, 2)
      assert.notInclude(stdout(), "console")
    }))

  it.scopedLive("lets no child of a handler inherit its streams", () =>
    Effect.gen(function*() {
      const { ask, messages, stderr } = yield* host()
      assert.deepStrictEqual(yield* ask("children"), {})
      assert.deepStrictEqual(yield* ask("echo", { n: 1 }), { n: 1 })
      for (const text of ["spawn inherit", "spawn 1", "spawn stream", "spawnSync", "execSync", "forked", "worker"]) {
        yield* until(() => stderr().includes(text))
      }
      assert.strictEqual(messages().length, 2)
    }))

  it.scopedLive("refuses a second claim on the same streams", () =>
    Effect.gen(function*() {
      const { ask } = yield* host()
      assert.deepStrictEqual(yield* ask("claim"), {
        reason: "Open",
        message: "Standard input is already used by another transport in this process; close that transport first"
      })
      assert.deepStrictEqual(yield* ask("echo", { n: 1 }), { n: 1 })
    }))

  it.scopedLive("releases the streams when it ends", () =>
    Effect.gen(function*() {
      const { child, exited, stderr, stdout } = yield* host("--after")
      child.stdin!.end()
      assert.strictEqual(yield* exited, 0)
      yield* until(() => stdout() === "after\n")
      assert.include(stderr(), "restored [] false")
    }))

  it.scopedLive("does not keep the process alive after it has served, although the input is open", () =>
    Effect.gen(function*() {
      const { ask, child, exited } = yield* host()
      assert.deepStrictEqual(yield* ask("stop"), {})
      assert.strictEqual(yield* exited, 0)
      assert.isFalse(child.stdin!.writableEnded)
    }))

  it.scopedLive("survives bytes that are not messages", () =>
    Effect.gen(function*() {
      const { ask, child, messages } = yield* host()
      for (const bytes of [[0xff, 0xfe], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0x7b], [0x5b, 0x5d], [0x0d]]) {
        child.stdin!.write(Buffer.from([...bytes, 0x0a]))
      }
      child.stdin!.write(Buffer.from([
        ...Buffer.from("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"text\":\""),
        0xff,
        ...Buffer.from("\"}}\n")
      ]))
      assert.deepStrictEqual(yield* ask("echo", { n: 1 }), { n: 1 })
      assert.deepStrictEqual(messages().find(({ id }) => id === 1).result, { text: "\uFFFD" })
      assert.strictEqual(messages().filter(({ error }) => error !== undefined).length, 5)
    }))

  it.scopedLive("answers a line that is too long with one error, keeps none of it, and continues", () =>
    Effect.gen(function*() {
      const { ask, child, messages } = yield* host()
      const before = (yield* ask("memory")).bytes
      const chunk = "x".repeat(1024 * 1024)
      for (const _ of range(20)) child.stdin!.write(chunk)
      child.stdin!.write("\n")
      const after = (yield* ask("memory")).bytes
      assert.isBelow(after - before, 1024 * 1024)
      assert.deepStrictEqual(messages().filter(({ error }) => error !== undefined).map(({ error }) => error.code), [
        -32700
      ])
    }))

  describe("when the client goes", () => {
    it.scopedLive("answers a last line without a newline, and exits", () =>
      Effect.gen(function*() {
        const { answer, child, exited } = yield* host()
        child.stdin!.end(line(Message.request(1, "echo", { n: 1 })).trimEnd())
        assert.deepStrictEqual(yield* answer(1), { n: 1 })
        assert.strictEqual(yield* exited, 0)
      }))

    it.scopedLive("ends without an error when its output has no reader", () =>
      Effect.gen(function*() {
        const { child, exited, say, stderr } = yield* host()
        say(Message.request(1, "flood"))
        yield* until(() => child.stdout!.readableLength > 0 || child.stdout!.readableFlowing === true)
        child.stdout!.destroy()
        assert.strictEqual(yield* exited, 0)
        assert.notMatch(stderr(), /Error|EPIPE/)
      }))

    it.scopedLive("exits when its client is killed", () =>
      Effect.gen(function*() {
        const program = yield* bundled("serverHost.ts")
        const mark = randomUUID()
        const script = "const [, ...args] = process.argv;" +
          "require('child_process').spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 2] }).stdout.resume()"
        const client = spawn(node, ["-e", script, program, mark], { stdio: ["ignore", "ignore", "pipe"] })
        let err = ""
        client.stderr.setEncoding("utf8").on("data", (text) => err += text)
        yield* until(() => err.includes("serving"))
        assert.strictEqual(pidsOf(mark).length, 2)
        client.kill("SIGKILL")
        yield* until(() => pidsOf(mark).length === 0)
      }))
  })

  it.scopedLive("reads while it writes to a client that does not read, and ends on SIGTERM", () =>
    Effect.gen(function*() {
      const { child, exited, say, stderr } = yield* host()
      child.stdout!.pause()
      say(...range(10).map((n) => Message.request(n, "flood")))
      say(Message.notification("notifications/flood"))
      yield* until(() => stderr().includes("notified"))
      child.kill("SIGTERM")
      // It exited by itself: the signal did not kill it.
      assert.isNumber(yield* exited)
    }))
})
