import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect, Exit, Fiber, Logger, LogLevel, Scope, Stream } from "effect"
import { tmpdir } from "node:os"
import { fixture, node } from "./Fixture.js"
import { bundledOnce } from "./interop/Bundle.js"
import { leavesNothing } from "./Leftovers.js"

const program = bundledOnce("faultyServer.ts")

// What can go wrong, and when

const stages = {
  connect: "as soon as it is launched",
  initialize: "when it is asked to shake hands",
  idle: "while nothing is asked",
  call: "in the middle of two calls",
  close: "when it is to end"
}
type Stage = keyof typeof stages

/** How something ends: it is answered, or fails with this tag and this message. */
type Outcome = "answered" | RegExp

interface Row {
  /** What it costs. */
  readonly it: string
  readonly connecting?: Outcome
  /** The call that the fault is about, and one beside it. */
  readonly victim?: Outcome
  readonly beside?: Outcome
  /** A ping afterwards. */
  readonly after?: Outcome
  /** How the conversation has ended, when it has. */
  readonly ended?: Outcome
  /** What was odd. */
  readonly diagnostics?: ReadonlyArray<string>
}

const goesOn = (...diagnostics: ReadonlyArray<string>): Row => ({ it: "costs nothing", diagnostics })

/** The conversation is over: there is no client, or everything that is asked of it fails so. */
const over = (how: RegExp, ended: Outcome, row: Partial<Row> = {}): Row => ({
  it: "ends the conversation, and everything in it is told how",
  connecting: how,
  victim: how,
  beside: how,
  after: how,
  ended,
  ...row
})

const lastWords = "\".*node\" exited with code 3; the last lines of its stderr:\\nits last words$"
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
const cutShort = { ...left, diagnostics: ["Malformed"] }
const unwritable = over(
  /^ConnectionClosed: Connection closed: Cannot write: write EPIPE$/,
  /^TransportError Write: Cannot write/,
  {
    it: "ends the conversation when something more is asked",
    connecting: "answered",
    victim: "answered",
    beside: "answered"
  }
)
const late = (method: string, row: Omit<Row, "it"> = {}): Row => ({
  it: "costs who asked its time",
  ...row,
  [method === "tools/call" ? "victim" : method === "ping" ? "after" : "connecting"]: new RegExp(
    `^RequestTimeout: Request "${method}" timed out after 500 ms$`
  )
})
const ends: Row = { it: "ends the calls that wait, and nothing is left" }

const unread = (method: string) => `nothing was asked yet that it could ${method}`

/** For each fault what it costs at each stage, or why there is no such thing. */
const matrix: Record<string, { readonly fault: string } & Record<Stage, Row | string>> = {
  "that dies": { fault: "dies", connect: died, initialize: died, idle: died, call: died, close: ends },
  "that leaves without a word": {
    fault: "leaves",
    connect: left,
    initialize: left,
    idle: left,
    call: left,
    close: ends
  },
  "that is killed": { fault: "killed", connect: killed, initialize: killed, idle: killed, call: killed, close: ends },
  "that hears no more": {
    fault: "hearsNoMore",
    // What was written before is in the pipe, and nobody will ever read it.
    connect: late("initialize"),
    initialize: unwritable,
    idle: unwritable,
    call: unwritable,
    close: ends
  },
  "that says no more": {
    fault: "saysNoMore",
    connect: left,
    initialize: left,
    idle: left,
    call: left,
    close: ends
  },
  "that stalls": {
    fault: "stalls",
    connect: late("initialize"),
    initialize: late("initialize"),
    idle: late("ping"),
    call: late("tools/call"),
    close: ends
  },
  "that stalls and does not want to end": {
    fault: "clings",
    connect: late("initialize"),
    initialize: late("initialize"),
    idle: late("ping"),
    call: late("tools/call"),
    close: ends
  },
  "that ends in the middle of a line": {
    fault: "cutShort",
    connect: left,
    initialize: left,
    idle: cutShort,
    call: cutShort,
    close: ends
  },
  "that ends without ending its last line": {
    fault: "unended",
    connect: left,
    initialize: { ...left, it: "is heard out, and then it is over", connecting: "answered" },
    idle: left,
    call: { ...left, it: "is heard out, and then it is over", victim: "answered" },
    close: ends
  },
  "that writes what is no message": {
    fault: "garbage",
    connect: goesOn(),
    initialize: goesOn(),
    idle: goesOn(...Array(7).fill("Malformed")),
    call: goesOn(...Array(7).fill("Malformed")),
    close: ends
  },
  "whose answer is none": {
    fault: "spoiled",
    connect: unread("spoil"),
    initialize: {
      it: "fails the handshake, which is told why",
      connecting: /^TransportError Decode: .*"jsonrpc" must be "2.0"/
    },
    idle: goesOn("Malformed"),
    call: {
      it: "fails the call that it is for",
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
    // The handshake was answered before.
    idle: goesOn("UnknownResponse", "UnknownResponse"),
    call: goesOn("UnknownResponse", "UnknownResponse"),
    close: ends
  },
  "that answers out of order": {
    fault: "reversed",
    connect: unread("answer"),
    initialize: "nothing else is asked before it is answered",
    idle: unread("answer"),
    call: goesOn(),
    close: ends
  },
  "that answers what was not asked": {
    fault: "unasked",
    connect: goesOn(),
    initialize: goesOn(),
    idle: goesOn("UnknownResponse", "UnknownResponse", "UnknownResponse", "UnattributedError"),
    call: goesOn("UnknownResponse", "UnknownResponse", "UnknownResponse", "UnattributedError"),
    close: ends
  },
  "that writes the id as text": {
    fault: "textId",
    connect: unread("answer"),
    initialize: goesOn(),
    // The handshake was answered before.
    idle: goesOn("UnknownResponse"),
    call: goesOn(),
    close: ends
  },
  "that answers under ids of other kinds": {
    fault: "wrongId",
    connect: goesOn(),
    initialize: late("initialize"),
    idle: goesOn(...Array(5).fill("Malformed"), "UnknownResponse"),
    call: late("tools/call", { diagnostics: [...Array(5).fill("Malformed"), "UnknownResponse"] }),
    close: ends
  }
}

// How it is found out

const outcome = <A>(effect: Effect.Effect<A, ConnectError>): Effect.Effect<string> =>
  Effect.match(effect, {
    onFailure: (error) => `${error._tag}${error._tag === "TransportError" ? ` ${error.reason}` : ""}: ${error.message}`,
    onSuccess: () => "answered"
  })

const expect = (what: string, seen: string, expected: Outcome = "answered") => {
  if (expected === "answered") assert.strictEqual(seen, expected, what)
  else assert.match(seen, expected, what)
}

/** How long one waits who is to wait in vain; the others have all the time of the test. */
const impatient = (expected: Outcome | undefined) =>
  expected instanceof RegExp && expected.source.startsWith("^RequestTimeout") ? "500 millis" : "1 minute"

const launching = (stage: Stage, fault: string, mark: string) =>
  Effect.map(program, (path) =>
    StdioClient.connector({
      command: node,
      args: [path, stage, fault, mark],
      stderr: "ignore",
      closeTimeouts: { grace: "200 millis", terminate: "200 millis" }
    }))

const suffers = (stage: Exclude<Stage, "close">, fault: string, row: Row) => (mark: string) =>
  Effect.gen(function*() {
    const connecting = yield* Effect.exit(Client.make(yield* launching(stage, fault, mark), {
      timeout: impatient(row.connecting)
    }))
    const asked = stage === "connect" || stage === "initialize"
    expect("connecting", yield* outcome(connecting), asked ? row.connecting : "answered")
    if (Exit.isFailure(connecting)) return
    const client = connecting.value
    const ended = yield* Effect.fork(client.ended)
    const diagnostics: Array<string> = []
    const noticing = yield* Effect.fork(
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
        outcome(client.callTool("victim", {}, { timeout: impatient(row.victim) })),
        outcome(client.callTool("beside"))
      ], { concurrency: 2 })
      expect("the call", victim, row.victim)
      expect("the call beside it", beside, row.beside)
    }
    expect("afterwards", yield* outcome(client.ping({ timeout: impatient(row.after) })), row.after)
    if (row.ended === undefined) {
      assert.isNull(ended.unsafePoll(), "the conversation goes on")
      yield* Effect.repeatN(Effect.yieldNow(), 10)
    } else {
      yield* Fiber.join(noticing)
      expect("the end", yield* outcome(Fiber.join(ended)), row.ended)
    }
    if (!asked) assert.deepStrictEqual(diagnostics, [...row.diagnostics ?? []])
  })

const isClosed = (fault: string) => (mark: string) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const client = yield* Scope.extend(Effect.flatMap(launching("close", fault, mark), Client.make), scope)
    const calling = yield* Effect.fork(outcome(client.callTool("victim")))
    // It has been asked for when what was asked after it is answered.
    yield* client.ping()
    assert.isNull(calling.unsafePoll())
    yield* Scope.close(scope, Exit.void)
    expect("the call", yield* Fiber.join(calling), /^ConnectionClosed: Connection closed$/)
    expect("afterwards", yield* outcome(client.ping()), /^ConnectionClosed: Connection closed$/)
    yield* client.ended
  })

for (const [what, { fault, ...rows }] of Object.entries(matrix)) {
  describe(`A server ${what}`, () => {
    for (const [stage, row] of Object.entries(rows as Record<Stage, Row | string>) as Array<[Stage, Row | string]>) {
      if (typeof row === "string") continue
      it.live(`${stages[stage]}, ${row.it}`, () =>
        leavesNothing(stage === "close" ? isClosed(fault) : suffers(stage, fault, row)).pipe(
          Logger.withMinimumLogLevel(LogLevel.None)
        ))
    }
  })
}

describe("A server that cannot be launched", () => {
  const refusals: ReadonlyArray<readonly [what: string, options: StdioClient.Options, why: RegExp]> = [
    [
      "because there is none",
      { command: "no-such-program" },
      /Cannot start "no-such-program": there is no such program/
    ],
    ["because it is a folder", { command: tmpdir() }, /it is a folder/],
    ["because it may not be executed", { command: fixture("server.mjs") }, /may not be executed/],
    ["because there is no such folder to be in", { command: node, cwd: "/no/such/folder" }, /working directory/]
  ]

  for (const [what, options, why] of refusals) {
    it.live(`${what} fails who connects, who is told so`, () =>
      leavesNothing((mark) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(Client.make(StdioClient.connector({ ...options, args: [mark] })))
          assert.deepInclude(error, { _tag: "TransportError", reason: "Open" })
          assert.match(error.message, why)
        })
      ))
  }
})
