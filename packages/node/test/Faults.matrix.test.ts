import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect, Exit, Fiber, Logger, LogLevel, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { tmpdir } from "node:os"
import { bundledOnce } from "./Bundle.js"
import { fixture, node } from "./Fixture.js"
import { observe } from "./Leftovers.js"
import { pidsOf } from "./Processes.js"
import { isTaken } from "./Third.js"

const program = bundledOnce("faultyServer.ts")

/** Runs an effect, with a mark for the processes that it launches, and checks that nothing is left of it. */
const leavesNothing = <A, E, R>(effect: (mark: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const mark = randomUUID()
    const { exit, left } = yield* observe(Effect.flatMap(Effect.exit(Effect.scoped(effect(mark))), (exit) =>
      // Closing has waited for the processes.
      Effect.sync(() => {
        assert.deepStrictEqual(pidsOf(mark), [], "processes left behind")
        return exit
      })))
    assert.deepInclude(left, { fibers: 0, timers: 0 })
    return yield* yield* exit
  })

// The faults, and the stages at which they happen

const stages = {
  connect: "when it is launched",
  initialize: "during the handshake",
  idle: "between requests",
  call: "during two calls",
  close: "when the client closes"
}
type Stage = keyof typeof stages

/** How a request ends: with a result, or with this tag and message. */
type Outcome = "answered" | RegExp

interface Row {
  /** What happens. */
  readonly it: string
  readonly connecting?: Outcome
  /** The call that the fault affects, and a concurrent one. */
  readonly victim?: Outcome
  readonly beside?: Outcome
  /** A ping after the fault. */
  readonly after?: Outcome
  /** How the conversation has ended, if it has. */
  readonly ended?: Outcome
  /** The diagnostics of the client. */
  readonly diagnostics?: ReadonlyArray<string>
}

const goesOn = (...diagnostics: ReadonlyArray<string>): Row => ({ it: "has no effect on requests", diagnostics })

/** The conversation ends: connecting fails, or all requests do. */
const over = (how: RegExp, ended: Outcome, row: Partial<Row> = {}): Row => ({
  it: "ends the conversation, and fails all requests with the reason",
  connecting: how,
  victim: how,
  beside: how,
  after: how,
  ended,
  ...row
})

const lastWords = "\".*node\" exited with code 3; the last lines of its stderr:\\nthe last line$"
const bySignal = "\".*node\" was ended by SIGKILL$"
const died = over(
  new RegExp(`^ConnectionClosed: Connection closed: ${lastWords}`),
  new RegExp(`^TransportError Read: ${lastWords}`)
)
const killed = over(
  new RegExp(`^ConnectionClosed: Connection closed: ${bySignal}`),
  new RegExp(`^TransportError Read: ${bySignal}`)
)
const left = over(/^ConnectionClosed: Connection closed$/, "answered")
const withoutWord = "\".*node\" exited with code 0 and has written nothing"
const silent = over(
  new RegExp(`^ConnectionClosed: Connection closed: ${withoutWord}`),
  new RegExp(`^TransportError Read: ${withoutWord}`)
)
const cutShort = { ...left, diagnostics: ["Malformed"] }
const unwritable = over(
  /^ConnectionClosed: Connection closed: Cannot write: write EPIPE$/,
  /^TransportError Write: Cannot write/,
  {
    it: "ends the conversation at the next request",
    connecting: "answered",
    victim: "answered",
    beside: "answered"
  }
)
const late = (method: string, row: Omit<Row, "it"> = {}): Row => ({
  it: "lets the request time out",
  ...row,
  [method === "tools/call" ? "victim" : method === "ping" ? "after" : "connecting"]: new RegExp(
    `^RequestTimeout: Request "${method}" timed out after 500 ms(\\. Inputs of the server that were not messages.*)?$`
  )
})
const ends: Row = { it: "ends the open calls, and leaves nothing behind" }

const unread = (method: string) => `the server has no request yet that it could ${method}`

/** What each fault does at each stage, or why the combination does not exist. */
const matrix: Record<string, { readonly fault: string } & Record<Stage, Row | string>> = {
  "that crashes": { fault: "dies", connect: died, initialize: died, idle: died, call: died, close: ends },
  "that exits": {
    fault: "exits",
    connect: silent,
    initialize: silent,
    idle: left,
    call: left,
    close: ends
  },
  "that is killed": { fault: "killed", connect: killed, initialize: killed, idle: killed, call: killed, close: ends },
  "that closes its input": {
    fault: "closesInput",
    // The request is in the pipe, and nothing will read it.
    connect: late("initialize"),
    initialize: unwritable,
    idle: unwritable,
    call: unwritable,
    close: ends
  },
  "that closes its output": {
    fault: "closesOutput",
    connect: left,
    initialize: left,
    idle: left,
    call: left,
    close: ends
  },
  "that stops answering": {
    fault: "stalls",
    connect: late("initialize"),
    initialize: late("initialize"),
    idle: late("ping"),
    call: late("tools/call"),
    close: ends
  },
  "that stops answering and ignores SIGTERM": {
    fault: "ignoresSigterm",
    connect: late("initialize"),
    initialize: late("initialize"),
    idle: late("ping"),
    call: late("tools/call"),
    close: ends
  },
  "that exits in the middle of a line": {
    fault: "cutShort",
    connect: left,
    initialize: left,
    idle: cutShort,
    call: cutShort,
    close: ends
  },
  "that exits without a newline after its last line": {
    fault: "unended",
    connect: left,
    initialize: { ...left, it: "delivers the last message, and ends the conversation", connecting: "answered" },
    idle: left,
    call: { ...left, it: "delivers the last message, and ends the conversation", victim: "answered" },
    close: ends
  },
  "that writes lines that are not messages": {
    fault: "garbage",
    connect: goesOn(),
    initialize: goesOn(),
    idle: goesOn(...Array(7).fill("Malformed")),
    call: goesOn(...Array(7).fill("Malformed")),
    close: ends
  },
  "whose response is malformed": {
    fault: "malformed",
    connect: unread("answer"),
    initialize: {
      it: "fails the handshake with the reason",
      connecting: /^TransportError Decode: .*"jsonrpc" must be "2.0"/
    },
    idle: goesOn("Malformed"),
    call: {
      it: "fails the call with that id",
      victim: /^TransportError Decode: .*"jsonrpc" must be "2.0"/,
      diagnostics: ["Malformed"]
    },
    close: ends
  },
  "that writes a byte at a time": {
    fault: "slow",
    connect: goesOn(),
    initialize: goesOn(),
    idle: goesOn(),
    call: goesOn(),
    close: ends
  },
  "that answers twice": {
    fault: "twice",
    connect: unread("answer"),
    initialize: goesOn("UnknownResponse"),
    // The server repeats the response of the handshake.
    idle: goesOn("UnknownResponse", "UnknownResponse"),
    call: goesOn("UnknownResponse", "UnknownResponse"),
    close: ends
  },
  "that answers out of order": {
    fault: "reversed",
    connect: unread("answer"),
    initialize: "the client sends no other request before the response",
    idle: unread("answer"),
    call: goesOn(),
    close: ends
  },
  "that sends responses to unknown requests": {
    fault: "unknownIds",
    connect: goesOn(),
    initialize: goesOn(),
    idle: goesOn("UnknownResponse", "UnknownResponse", "UnknownResponse", "UnattributedError"),
    call: goesOn("UnknownResponse", "UnknownResponse", "UnknownResponse", "UnattributedError"),
    close: ends
  },
  "that sends ids as strings": {
    fault: "textId",
    connect: unread("answer"),
    initialize: goesOn(),
    // The server repeats the response of the handshake.
    idle: goesOn("UnknownResponse"),
    call: goesOn(),
    close: ends
  },
  "that sends ids of other types": {
    fault: "wrongId",
    connect: goesOn(),
    initialize: late("initialize"),
    idle: goesOn(...Array(5).fill("Malformed"), "UnknownResponse"),
    call: late("tools/call", { diagnostics: [...Array(5).fill("Malformed"), "UnknownResponse"] }),
    close: ends
  }
}

// The test of one combination

const outcome = <A>(effect: Effect.Effect<A, ConnectError>): Effect.Effect<string> =>
  Effect.match(effect, {
    onFailure: (error) => `${error._tag}${error._tag === "TransportError" ? ` ${error.reason}` : ""}: ${error.message}`,
    onSuccess: () => "answered"
  })

const expect = (what: string, seen: string, expected: Outcome = "answered") => {
  if (expected === "answered") assert.strictEqual(seen, expected, what)
  else assert.match(seen, expected, what)
}

/** Requests that are expected to time out do so soon. */
const timeoutFor = (expected: Outcome | undefined) =>
  expected instanceof RegExp && expected.source.startsWith("^RequestTimeout") ? "500 millis" : "1 minute"

const launching = (stage: Stage, fault: string, mark: string) =>
  Effect.map(program, (path) =>
    StdioClient.connector({
      command: node,
      args: [path, stage, fault, mark],
      stderr: () => Effect.void,
      closeTimeouts: { grace: "200 millis", terminate: "200 millis" }
    }))

const testFault = (stage: Exclude<Stage, "close">, fault: string, row: Row) => (mark: string) =>
  Effect.gen(function*() {
    const connecting = yield* Effect.exit(Client.make(yield* launching(stage, fault, mark), {
      timeout: timeoutFor(row.connecting),
      versions: Version.legacy
    }))
    const isConnecting = stage === "connect" || stage === "initialize"
    expect("connecting", yield* outcome(connecting), isConnecting ? row.connecting : "answered")
    if (Exit.isFailure(connecting)) return
    const client = connecting.value
    const ended = yield* Effect.fork(client.ended)
    const diagnostics: Array<string> = []
    const watching = yield* Effect.fork(
      Stream.runForEach(client.diagnostics, ({ _tag }) => Effect.sync(() => diagnostics.push(_tag)))
    )
    const done = yield* Effect.fork(
      Stream.runDrain(Stream.takeUntil(client.notifications, ({ method }) => method === "notifications/done"))
    )
    yield* Effect.repeatN(Effect.yieldNow(), 10)
    if (stage === "idle") {
      yield* client.notify("notifications/fault")
      yield* Fiber.join(done)
    }
    if (stage === "call") {
      const [victim, beside] = yield* Effect.all([
        outcome(client.callTool("victim", {}, { timeout: timeoutFor(row.victim) })),
        outcome(client.callTool("beside"))
      ], { concurrency: 2 })
      expect("the call", victim, row.victim)
      expect("the call beside it", beside, row.beside)
    }
    expect("afterwards", yield* outcome(client.ping({ timeout: timeoutFor(row.after) })), row.after)
    if (row.ended === undefined) {
      assert.isNull(ended.unsafePoll(), "the conversation goes on")
      yield* Effect.repeatN(Effect.yieldNow(), 10)
    } else {
      yield* Fiber.join(watching)
      expect("the end", yield* outcome(Fiber.join(ended)), row.ended)
    }
    if (!isConnecting) assert.deepStrictEqual(diagnostics, [...row.diagnostics ?? []])
  })

const testClose = (fault: string) => (mark: string) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const client = yield* Scope.extend(
      Effect.flatMap(
        launching("close", fault, mark),
        (connector) => Client.make(connector, { versions: Version.legacy })
      ),
      scope
    )
    const calling = yield* Effect.fork(outcome(client.callTool("victim")))
    // The server has the call when it answers a later request.
    yield* client.ping()
    assert.isNull(calling.unsafePoll())
    yield* Scope.close(scope, Exit.void)
    expect("the call", yield* Fiber.join(calling), /^ConnectionClosed: Connection closed$/)
    expect("afterwards", yield* outcome(client.ping()), /^ConnectionClosed: Connection closed$/)
    yield* client.ended
  })

for (const [line, [what, { fault, ...rows }]] of Object.entries(matrix).entries()) {
  const all = Object.entries(rows as Record<Stage, Row | string>) as Array<[Stage, Row | string]>
  for (const [column, [stage, row]] of all.entries()) {
    if (typeof row === "string" || !isTaken(line + column)) continue
    it.live(`A server ${what} ${stages[stage]} ${row.it}`, () =>
      leavesNothing(stage === "close" ? testClose(fault) : testFault(stage, fault, row)).pipe(
        Logger.withMinimumLogLevel(LogLevel.None)
      ))
  }
}

describe("A server that cannot be launched", () => {
  const refusals: ReadonlyArray<readonly [what: string, options: StdioClient.Options, why: RegExp]> = [
    [
      "because the file does not exist",
      { command: "no-such-program" },
      /Cannot start "no-such-program": there is no such program/
    ],
    ["because it is a folder", { command: tmpdir() }, /it is a folder/],
    ["because it may not be executed", { command: fixture("server.mjs") }, /may not be executed/],
    ["because there is no such folder to be in", { command: node, cwd: "/no/such/folder" }, /working directory/]
  ]

  for (const [what, options, why] of refusals) {
    it.live(`${what} fails the connection with the reason`, () =>
      leavesNothing((mark) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(Client.make(StdioClient.connector({ ...options, args: [mark] })))
          assert.deepInclude(error, { _tag: "TransportError", reason: "Open" })
          assert.match(error.message, why)
        })
      ))
  }
})
