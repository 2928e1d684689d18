import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import * as Connector from "@effect-mcp/core/Connector"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import type * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import { Effect, Exit, Fiber, Logger, LogLevel, Scope, Stream, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { waiting } from "./Scripts.js"

// The faults

/** What the server and the pipe to it can do wrong. */
interface Controls {
  readonly server: TestPeer.TestPeer
  /** Ends the pipe, in this way. */
  readonly end: (exit: Effect.Effect<void, LocalError.TransportError>) => Effect.Effect<void>
  /** The pipe refuses every message from now on. */
  readonly closeInput: Effect.Effect<void>
  /** The pipe accepts no message from now on, and does not refuse it. */
  readonly block: Effect.Effect<void>
  /** The server answers no request from now on. */
  readonly stopAnswering: Effect.Effect<void>
}

const resultOf = ({ method, params }: Message.Request): Message.Params =>
  method === "initialize"
    ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "faulty", version: "1.0.0" } }
    : method === "tools/call"
    ? { content: [{ type: "text", text: params!.name }] }
    : {}

const answer = (request: Message.Request, id: unknown = request.id): Message.Message => ({
  jsonrpc: "2.0",
  id: id as Message.RequestId,
  result: resultOf(request)
})

/** What is not a message, too. */
const send = ({ server }: Controls, ...messages: ReadonlyArray<unknown>) =>
  Effect.forEach(messages, (message) => Effect.ignore(server.send(message as Message.Message)), { discard: true })

const cut = new LocalError.TransportError({ reason: "Read", message: "The cable is cut" })

const faults: Record<string, (controls: Controls, requests: ReadonlyArray<Message.Request>) => Effect.Effect<void>> = {
  "hangs up": ({ end }) => end(Effect.void),
  "is cut off": ({ end }) => end(Effect.fail(cut)),
  "is reached by a pipe that dies": ({ end }) => end(Effect.die(new Error("a defect of the pipe"))),
  "closes its input": (controls, requests) =>
    Effect.zipRight(controls.closeInput, send(controls, ...requests.map((one) => answer(one)))),
  "does not read": (controls, requests) =>
    Effect.zipRight(controls.block, send(controls, ...requests.map((one) => answer(one)))),
  "stalls": (controls, [, ...others]) =>
    Effect.zipRight(
      others.length === 0 ? controls.stopAnswering : Effect.void,
      send(controls, ...others.map((one) => answer(one)))
    ),
  "sends values that are not messages": (controls, requests) =>
    send(
      controls,
      "text",
      7,
      null,
      [],
      {},
      { jsonrpc: "1.0" },
      { jsonrpc: "2.0" },
      ...requests.map((one) => answer(one))
    ),
  "sends an invalid answer": (controls, [first, ...others]) =>
    send(
      controls,
      ...first === undefined ? [] : [{ ...answer(first), jsonrpc: "1.0" }],
      ...others.map((one) => answer(one))
    ),
  "answers both with a result and an error": (controls, [first, ...others]) =>
    send(
      controls,
      ...first === undefined ? [] : [{ ...answer(first), error: { code: 1, message: "no" } }],
      ...others.map((one) => answer(one))
    ),
  "answers twice": (controls, requests) => send(controls, ...requests.flatMap((one) => [answer(one), answer(one)])),
  "answers with a result, and with an error afterwards": (controls, requests) =>
    send(controls, ...requests.flatMap((one) => [answer(one), Message.failure(one.id, { code: 1, message: "no" })])),
  "answers out of order": (controls, requests) => send(controls, ...[...requests].reverse().map((one) => answer(one))),
  "answers requests that were not sent": (controls, requests) =>
    send(
      controls,
      Message.success(4711, {}),
      Message.success("made up", {}),
      Message.failure(4712, { code: 1, message: "no" }),
      Message.failure(undefined, { code: -32700, message: "what?" }),
      ...requests.map((one) => answer(one))
    ),
  "sends notifications of unknown requests": (controls, requests) =>
    send(
      controls,
      Message.notification("notifications/progress", { progressToken: "made up", progress: 1 }),
      Message.notification("notifications/progress", {}),
      Message.notification("notifications/cancelled", { requestId: "made up" }),
      Message.notification("notifications/cancelled"),
      Message.notification("made/up", { a: 1 }),
      ...requests.map((one) => answer(one))
    ),
  "cancels the requests of the client": (controls, requests) =>
    send(
      controls,
      ...requests.map(({ id }) => Message.notification("notifications/cancelled", { requestId: id })),
      ...requests.map((one) => answer(one))
    ),
  "sends requests with the ids of the client's requests": (controls, requests) =>
    send(controls, ...requests.map(({ id }) => Message.request(id, "ping")), ...requests.map((one) => answer(one))),
  "writes the id as text": (controls, requests) =>
    send(controls, ...requests.map((one) => answer(one, String(one.id)))),
  "answers under ids of other kinds": (controls, [first, ...others]) =>
    send(
      controls,
      ...first === undefined
        ? []
        : [true, null, [first.id], {}, Number(first.id) + 0.5, `0${first.id}`].map((id) => answer(first, id)),
      ...others.map((one) => answer(one))
    ),
  "sends a thousand notifications at once": (controls, requests) =>
    send(
      controls,
      ...Array.from({ length: 1000 }, (_, n) => Message.notification("notifications/flood", { n })),
      ...requests.map((one) => answer(one))
    )
}

// The stages of a session, and the effects of a fault

const stages = {
  connect: "before the handshake",
  initialize: "during the handshake",
  idle: "while no call is in flight",
  call: "during two calls"
}
type Stage = keyof typeof stages

/** How a call ends: it is answered, or fails with this tag and message. */
type Outcome = "answered" | RegExp

interface Row {
  readonly it: string
  /** The handshake, or the call that the fault is about, or a ping afterwards. */
  readonly victim: Outcome
  /** A concurrent call. */
  readonly beside: Outcome
  /** A ping afterwards. */
  readonly after: Outcome
  /** How the session has ended, if it has. */
  readonly ended: Outcome | undefined
  readonly diagnostics: ReadonlyArray<string>
}

const nothing: Row = {
  it: "has no effect",
  victim: "answered",
  beside: "answered",
  after: "answered",
  ended: undefined,
  diagnostics: []
}

const goesOn = (...diagnostics: ReadonlyArray<string>): Row => ({ ...nothing, diagnostics })

const over = (how: RegExp, ended: Outcome): Row => ({
  it: "ends the session and fails its calls with the reason",
  victim: how,
  beside: how,
  after: how,
  ended,
  diagnostics: []
})

const late: Row = {
  ...nothing,
  it: "fails the call at its timeout",
  victim: /^RequestTimeout: Request ".*" timed out after /
}
const malformed = (why: RegExp): Row => ({ ...nothing, it: "fails the call", victim: why, diagnostics: ["Malformed"] })
const unread: Row = { ...nothing, it: "fails later calls", victim: /^ConnectionClosed: Connection closed$/ }

const hungUp = over(/^ConnectionClosed: Connection closed$/, "answered")
const cutOff = over(
  /^ConnectionClosed: Connection closed: The cable is cut$/,
  /^TransportError Read: The cable is cut$/
)
const dead = over(
  /^ConnectionClosed: Connection closed: The transport died$/,
  /^TransportError Read: The transport died$/
)
const version = malformed(/^TransportError Decode: .*"jsonrpc" must be "2.0"$/)
const both = malformed(/^TransportError Decode: .*"result" and "error" exclude each other$/)
const times = (count: number, diagnostic: string): ReadonlyArray<string> => Array(count).fill(diagnostic)

/** One row for all stages, or one for each; none where the fault needs a request and there is none. */
const matrix: Record<string, Row | Partial<Record<Stage, Row>>> = {
  "hangs up": hungUp,
  // Before the handshake the client does not learn the reason.
  "is cut off": { connect: hungUp, initialize: cutOff, idle: cutOff, call: cutOff },
  "is reached by a pipe that dies": { connect: hungUp, initialize: dead, idle: dead, call: dead },
  "closes its input": {
    connect: unread,
    initialize: nothing,
    idle: unread,
    call: { ...unread, victim: "answered", after: unread.victim }
  },
  "does not read": {
    connect: late,
    idle: late,
    call: { ...late, victim: "answered", after: late.victim }
  },
  "stalls": late,
  "sends values that are not messages": goesOn(...times(7, "Malformed")),
  "sends an invalid answer": { initialize: version, call: version },
  "answers both with a result and an error": { initialize: both, call: both },
  "answers twice": { initialize: nothing, call: goesOn("UnknownResponse", "UnknownResponse") },
  "answers with a result, and with an error afterwards": {
    initialize: nothing,
    call: goesOn("UnknownResponse", "UnknownResponse")
  },
  "answers out of order": { call: nothing },
  "answers requests that were not sent": goesOn(...times(3, "UnknownResponse"), "UnattributedError"),
  "sends notifications of unknown requests": nothing,
  "cancels the requests of the client": { initialize: nothing, call: nothing },
  "sends requests with the ids of the client's requests": { initialize: nothing, call: nothing },
  "writes the id as text": { initialize: nothing, call: nothing },
  "answers under ids of other kinds": {
    initialize: late,
    call: { ...late, diagnostics: [...times(5, "Malformed"), "UnknownResponse"] }
  },
  "sends a thousand notifications at once": nothing
}

// The client and its server

const outcome = <A>(effect: Effect.Effect<A, ConnectError>): Effect.Effect<string> =>
  Effect.match(effect, {
    onFailure: (error) => `${error._tag}${error._tag === "TransportError" ? ` ${error.reason}` : ""}: ${error.message}`,
    onSuccess: () => "answered"
  })

const expect = (what: string, seen: string, expected: Outcome) => {
  if (expected === "answered") assert.strictEqual(seen, expected, what)
  else assert.match(seen, expected, what)
}

/** A server that works until the stage is reached, or until `commit`. */
const played = (stage: Stage, fault: keyof typeof faults) =>
  Effect.gen(function*() {
    // As text, so that values that are not messages arrive unchanged.
    const { client: mine, server: theirs } = yield* TestTransport.pair({ oracle: false })
    const server = yield* TestPeer.make(theirs)
    let last: Effect.Effect<void, LocalError.TransportError> = Effect.void
    let [silent, closed, blocked] = [false, false, false]
    const refusal = new LocalError.TransportError({ reason: "Write", message: "The input is closed" })
    const controls: Controls = {
      server,
      end: (exit) =>
        Effect.suspend(() => {
          last = exit
          return server.hangUp
        }),
      closeInput: Effect.sync(() => {
        closed = true
      }),
      block: Effect.sync(() => {
        blocked = true
      }),
      stopAnswering: Effect.sync(() => {
        silent = true
      })
    }
    const pipe: Transport.Transport = {
      incoming: Stream.concat(mine.incoming, Stream.execute(Effect.suspend(() => last))),
      send: (message) =>
        Effect.suspend(() => closed ? Effect.fail(refusal) : blocked ? Effect.never : mine.send(message)),
      unsafeSend: (message) => !closed && (blocked || mine.unsafeSend(message))
    }
    const requests: Array<Message.Request> = []
    const notified: Array<string> = []
    const commit = (waiting: ReadonlyArray<Message.Request>) => faults[fault]!(controls, waiting)
    const respond = (message: Message.Message) => {
      if (!Message.isRequest(message)) {
        if (Message.isNotification(message)) notified.push(message.method)
        return Effect.void
      }
      if (silent) return Effect.void
      if (message.method === "initialize" && stage === "initialize") return commit([message])
      if (message.method !== "tools/call") return send(controls, answer(message))
      return requests.push(message) === 2 ? commit(requests) : Effect.void
    }
    // The server can hang up now, while the client does not listen yet.
    if (stage === "connect") yield* Effect.zipRight(Effect.yieldNow(), waiting(commit([])))
    yield* Effect.forkScoped(Effect.ignore(Effect.sandbox(Effect.forever(Effect.flatMap(server.next, respond)))))
    return {
      connector: Connector.fromTransport(pipe, "a faulty server"),
      commit: Effect.suspend(() => commit(requests)),
      notified
    }
  })

/** Waits for the end; lets time pass when nothing else can happen. */
const patiently = <A, R>(effect: Effect.Effect<A, never, R>) =>
  Effect.gen(function*() {
    const fiber = yield* waiting(effect)
    for (let i = 0; i < 100 && fiber.unsafePoll() === null; i++) yield* Effect.yieldNow()
    yield* TestClock.adjust("61 seconds")
    return yield* Fiber.join(fiber)
  })

const verify = (stage: Stage, fault: keyof typeof faults, row: Row) =>
  Effect.gen(function*() {
    const { commit, connector, notified } = yield* played(stage, fault)
    let endings = 0
    const once = <A>(call: Effect.Effect<A, ConnectError>) =>
      outcome(Effect.ensuring(call, Effect.sync(() => endings++)))
    const connecting = yield* patiently(Effect.exit(Client.make(connector, { versions: Version.legacy })))
    if (stage === "connect" || stage === "initialize") {
      expect("the handshake", yield* outcome(connecting), row.victim)
      // `initialize` MUST NOT be cancelled.
      assert.notInclude(notified, "notifications/cancelled")
    }
    if (Exit.isFailure(connecting)) return
    const client = connecting.value
    const ended = yield* Effect.fork(client.ended)
    const diagnostics: Array<string> = []
    yield* waiting(Stream.runForEach(client.diagnostics, ({ _tag }) => Effect.sync(() => diagnostics.push(_tag))))
    if (stage === "idle") {
      yield* commit
      expect("the next call", yield* patiently(once(client.ping())), row.victim)
      assert.strictEqual(endings, 1)
    }
    if (stage === "call") {
      const [victim, beside] = yield* patiently(
        Effect.all([once(client.callTool("victim")), once(client.callTool("beside"))], { concurrency: 2 })
      )
      expect("the call", victim, row.victim)
      expect("the concurrent call", beside, row.beside)
      assert.strictEqual(endings, 2)
      expect("the ping afterwards", yield* patiently(outcome(client.ping())), row.after)
      assert.deepStrictEqual(
        notified.filter((method) => method === "notifications/cancelled"),
        row.victim === late.victim ? ["notifications/cancelled"] : []
      )
    }
    yield* Effect.repeatN(Effect.yieldNow(), 20)
    if (stage === "idle" || stage === "call") assert.deepStrictEqual(diagnostics, row.diagnostics)
    if (row.ended === undefined) assert.isNull(ended.unsafePoll(), "the session goes on")
    else expect("the end", yield* outcome(Fiber.join(ended)), row.ended)
  })

const isRow = (row: Row | Partial<Record<Stage, Row>>): row is Row => "it" in row

for (const fault of Object.keys(faults)) {
  const rows = matrix[fault]!
  describe(`A server that ${fault}`, () => {
    for (const stage of Object.keys(stages) as Array<Stage>) {
      const row = isRow(rows) ? rows : rows[stage]
      if (row === undefined) continue
      it.effect(`${stages[stage]}, ${row.it}`, () =>
        leavesNothing(verify(stage, fault, row)).pipe(Logger.withMinimumLogLevel(LogLevel.None)))
    }
    it.effect("while it is closed, delays neither the closing nor the call in flight", () =>
      leavesNothing(Effect.gen(function*() {
        const { commit, connector } = yield* played("idle", fault)
        // When the session is over, and the pipe is still open.
        const closing = Connector.make(
          connector.name,
          Effect.zipLeft(connector.connect, Effect.addFinalizer(() => commit))
        )
        const scope = yield* Scope.make()
        const client = yield* Scope.extend(Client.make(closing, { versions: Version.legacy }), scope)
        const calling = yield* waiting(outcome(client.callTool("victim")))
        assert.isNull(calling.unsafePoll())
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* Fiber.join(calling), "ConnectionClosed: Connection closed")
        assert.strictEqual(yield* outcome(client.ping()), "ConnectionClosed: Connection closed")
        yield* client.ended
      })).pipe(Logger.withMinimumLogLevel(LogLevel.None)))
  })
}

describe("A server that cannot be reached", () => {
  it.effect("fails connecting with the error of its connector", () =>
    leavesNothing(Effect.gen(function*() {
      const refused = new LocalError.TransportError({ reason: "Open", message: "Connection refused" })
      assert.strictEqual(yield* Effect.flip(Client.make(Connector.make("nowhere", Effect.fail(refused)))), refused)
    })))
})
