import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import { Effect, Exit, Fiber, Logger, LogLevel, Scope, Stream, TestClock } from "effect"
import { leavesNothing, waiting } from "./Scripts.js"

// What can go wrong

/** What the server and the pipe to it can do wrong. */
interface Hands {
  readonly server: TestPeer.TestPeer
  /** The pipe ends: so. */
  readonly end: (how: Effect.Effect<void, LocalError.TransportError>) => Effect.Effect<void>
  /** Nothing can be written to the pipe any more. */
  readonly closeInput: Effect.Effect<void>
  /** The pipe takes nothing any more, and does not say so. */
  readonly block: Effect.Effect<void>
  /** The server answers nothing any more. */
  readonly goDeaf: Effect.Effect<void>
}

const resultOf = ({ method, params }: Message.Request): Message.Params =>
  method === "initialize"
    ? { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "faulty", version: "1.0.0" } }
    : method === "tools/call"
    ? { content: [{ type: "text", text: params!.name }] }
    : {}

const answer = (asked: Message.Request, id: unknown = asked.id): Message.Message => ({
  jsonrpc: "2.0",
  id: id as Message.RequestId,
  result: resultOf(asked)
})

/** What is no message, too. */
const say = ({ server }: Hands, ...messages: ReadonlyArray<unknown>) =>
  Effect.forEach(messages, (message) => Effect.ignore(server.send(message as Message.Message)), { discard: true })

const cut = new LocalError.TransportError({ reason: "Read", message: "The cable is cut" })

const faults: Record<string, (hands: Hands, asked: ReadonlyArray<Message.Request>) => Effect.Effect<void>> = {
  "hangs up": ({ end }) => end(Effect.void),
  "is cut off": ({ end }) => end(Effect.fail(cut)),
  "is reached by a pipe that dies": ({ end }) => end(Effect.die(new Error("a bug of the pipe's"))),
  "hears no more": (hands, asked) => Effect.zipRight(hands.closeInput, say(hands, ...asked.map((one) => answer(one)))),
  "does not read": (hands, asked) => Effect.zipRight(hands.block, say(hands, ...asked.map((one) => answer(one)))),
  "stalls": (hands, [, ...others]) =>
    Effect.zipRight(
      others.length === 0 ? hands.goDeaf : Effect.void,
      say(hands, ...others.map((one) => answer(one)))
    ),
  "says what is no message": (hands, asked) =>
    say(hands, "text", 7, null, [], {}, { jsonrpc: "1.0" }, { jsonrpc: "2.0" }, ...asked.map((one) => answer(one))),
  "spoils its answer": (hands, [first, ...others]) =>
    say(
      hands,
      ...first === undefined ? [] : [{ ...answer(first), jsonrpc: "1.0" }],
      ...others.map((one) => answer(one))
    ),
  "answers both with a result and an error": (hands, [first, ...others]) =>
    say(
      hands,
      ...first === undefined ? [] : [{ ...answer(first), error: { code: 1, message: "no" } }],
      ...others.map((one) => answer(one))
    ),
  "answers twice": (hands, asked) => say(hands, ...asked.flatMap((one) => [answer(one), answer(one)])),
  "answers with a result, and with an error afterwards": (hands, asked) =>
    say(hands, ...asked.flatMap((one) => [answer(one), Message.failure(one.id, { code: 1, message: "no" })])),
  "answers out of order": (hands, asked) => say(hands, ...[...asked].reverse().map((one) => answer(one))),
  "answers what was not asked": (hands, asked) =>
    say(
      hands,
      Message.success(4711, {}),
      Message.success("made up", {}),
      Message.failure(4712, { code: 1, message: "no" }),
      Message.failure(undefined, { code: -32700, message: "what?" }),
      ...asked.map((one) => answer(one))
    ),
  "tells of what is not": (hands, asked) =>
    say(
      hands,
      Message.notification("notifications/progress", { progressToken: "made up", progress: 1 }),
      Message.notification("notifications/progress", {}),
      Message.notification("notifications/cancelled", { requestId: "made up" }),
      Message.notification("notifications/cancelled"),
      Message.notification("made/up", { a: 1 }),
      ...asked.map((one) => answer(one))
    ),
  "cancels what we have asked": (hands, asked) =>
    say(
      hands,
      ...asked.map(({ id }) => Message.notification("notifications/cancelled", { requestId: id })),
      ...asked.map((one) => answer(one))
    ),
  "asks under the ids that we ask under": (hands, asked) =>
    say(hands, ...asked.map(({ id }) => Message.request(id, "ping")), ...asked.map((one) => answer(one))),
  "writes the id as text": (hands, asked) => say(hands, ...asked.map((one) => answer(one, String(one.id)))),
  "answers under ids of other kinds": (hands, [first, ...others]) =>
    say(
      hands,
      ...first === undefined
        ? []
        : [true, null, [first.id], {}, Number(first.id) + 0.5, `0${first.id}`].map((id) => answer(first, id)),
      ...others.map((one) => answer(one))
    ),
  "tells a thousand things at once": (hands, asked) =>
    say(
      hands,
      ...Array.from({ length: 1000 }, (_, n) => Message.notification("notifications/flood", { n })),
      ...asked.map((one) => answer(one))
    )
}

// When, and what it costs

const stages = {
  connect: "before it is said anything",
  initialize: "when it is asked to shake hands",
  idle: "while nothing is asked",
  call: "in the middle of two calls"
}
type Stage = keyof typeof stages

/** How something ends: it is answered, or fails with this tag and this message. */
type Outcome = "answered" | RegExp

interface Row {
  readonly it: string
  /** The handshake, or the call that the fault is about, or a ping afterwards. */
  readonly victim: Outcome
  /** The call beside it. */
  readonly beside: Outcome
  /** A ping afterwards. */
  readonly after: Outcome
  /** How the conversation has ended, when it has. */
  readonly ended: Outcome | undefined
  readonly diagnostics: ReadonlyArray<string>
}

const nothing: Row = {
  it: "costs nothing",
  victim: "answered",
  beside: "answered",
  after: "answered",
  ended: undefined,
  diagnostics: []
}

const goesOn = (...diagnostics: ReadonlyArray<string>): Row => ({ ...nothing, diagnostics })

const over = (how: RegExp, ended: Outcome): Row => ({
  it: "ends the conversation, and everything in it is told how",
  victim: how,
  beside: how,
  after: how,
  ended,
  diagnostics: []
})

const late: Row = {
  ...nothing,
  it: "costs who asked its time",
  victim: /^RequestTimeout: Request ".*" timed out after /
}
const spoiled = (why: RegExp): Row => ({ ...nothing, it: "fails who asked", victim: why, diagnostics: ["Malformed"] })
const unheard: Row = { ...nothing, it: "fails who asks for more", victim: /^ConnectionClosed: Connection closed$/ }

const hungUp = over(/^ConnectionClosed: Connection closed$/, "answered")
const cutOff = over(
  /^ConnectionClosed: Connection closed: The cable is cut$/,
  /^TransportError Read: The cable is cut$/
)
const dead = over(
  /^ConnectionClosed: Connection closed: The transport died$/,
  /^TransportError Read: The transport died$/
)
const version = spoiled(/^TransportError Decode: .*"jsonrpc" must be "2.0"$/)
const both = spoiled(/^TransportError Decode: .*"result" and "error" exclude each other$/)
const times = (count: number, diagnostic: string): ReadonlyArray<string> => Array(count).fill(diagnostic)

/** One row for all stages, or one for each; none where the fault is of an answer, and nothing was asked. */
const matrix: Record<string, Row | Partial<Record<Stage, Row>>> = {
  "hangs up": hungUp,
  // Before anything is said nobody has found out why.
  "is cut off": { connect: hungUp, initialize: cutOff, idle: cutOff, call: cutOff },
  "is reached by a pipe that dies": { connect: hungUp, initialize: dead, idle: dead, call: dead },
  "hears no more": {
    connect: unheard,
    initialize: nothing,
    idle: unheard,
    call: { ...unheard, victim: "answered", after: unheard.victim }
  },
  "does not read": {
    connect: late,
    idle: late,
    call: { ...late, victim: "answered", after: late.victim }
  },
  "stalls": late,
  "says what is no message": goesOn(...times(7, "Malformed")),
  "spoils its answer": { initialize: version, call: version },
  "answers both with a result and an error": { initialize: both, call: both },
  "answers twice": { initialize: nothing, call: goesOn("UnknownResponse", "UnknownResponse") },
  "answers with a result, and with an error afterwards": {
    initialize: nothing,
    call: goesOn("UnknownResponse", "UnknownResponse")
  },
  "answers out of order": { call: nothing },
  "answers what was not asked": goesOn(...times(3, "UnknownResponse"), "UnattributedError"),
  "tells of what is not": nothing,
  "cancels what we have asked": { initialize: nothing, call: nothing },
  "asks under the ids that we ask under": { initialize: nothing, call: nothing },
  "writes the id as text": { initialize: nothing, call: nothing },
  "answers under ids of other kinds": {
    initialize: late,
    call: { ...late, diagnostics: [...times(5, "Malformed"), "UnknownResponse"] }
  },
  "tells a thousand things at once": nothing
}

// How it is found out

const outcome = <A>(effect: Effect.Effect<A, ConnectError>): Effect.Effect<string> =>
  Effect.match(effect, {
    onFailure: (error) => `${error._tag}${error._tag === "TransportError" ? ` ${error.reason}` : ""}: ${error.message}`,
    onSuccess: () => "answered"
  })

const expect = (what: string, seen: string, expected: Outcome) => {
  if (expected === "answered") assert.strictEqual(seen, expected, what)
  else assert.match(seen, expected, what)
}

/** A server that does what it should until the stage comes, or `commit`. */
const played = (stage: Stage, fault: keyof typeof faults) =>
  Effect.gen(function*() {
    // As text, so that what is no message arrives as that.
    const { client: mine, server: theirs } = yield* TestTransport.pair({ oracle: false })
    const server = yield* TestPeer.make(theirs)
    let last: Effect.Effect<void, LocalError.TransportError> = Effect.void
    let [deaf, closed, blocked] = [false, false, false]
    const refusal = new LocalError.TransportError({ reason: "Write", message: "Nobody reads" })
    const hands: Hands = {
      server,
      end: (how) =>
        Effect.suspend(() => {
          last = how
          return server.hangUp
        }),
      closeInput: Effect.sync(() => {
        closed = true
      }),
      block: Effect.sync(() => {
        blocked = true
      }),
      goDeaf: Effect.sync(() => {
        deaf = true
      })
    }
    const pipe: Transport.Transport = {
      incoming: Stream.concat(mine.incoming, Stream.execute(Effect.suspend(() => last))),
      send: (message) =>
        Effect.suspend(() => closed ? Effect.fail(refusal) : blocked ? Effect.never : mine.send(message)),
      unsafeSend: (message) => !closed && (blocked || mine.unsafeSend(message))
    }
    const asked: Array<Message.Request> = []
    const said: Array<string> = []
    const commit = (waiting: ReadonlyArray<Message.Request>) => faults[fault]!(hands, waiting)
    const hear = (message: Message.Message) => {
      if (!Message.isRequest(message)) {
        if (Message.isNotification(message)) said.push(message.method)
        return Effect.void
      }
      if (deaf) return Effect.void
      if (message.method === "initialize" && stage === "initialize") return commit([message])
      if (message.method !== "tools/call") return say(hands, answer(message))
      return asked.push(message) === 2 ? commit(asked) : Effect.void
    }
    // The server listens by now, and can hang up; who is connected to it does not, and cannot be told much.
    if (stage === "connect") yield* Effect.zipRight(Effect.yieldNow(), waiting(commit([])))
    yield* Effect.forkScoped(Effect.ignore(Effect.sandbox(Effect.forever(Effect.flatMap(server.next, hear)))))
    return {
      connector: Connector.fromTransport(pipe, "a faulty server"),
      commit: Effect.suspend(() => commit(asked)),
      said
    }
  })

/** It ends, whatever it takes: time passes when there is nothing else to wait for. */
const whatever = <A, R>(effect: Effect.Effect<A, never, R>) =>
  Effect.gen(function*() {
    const fiber = yield* waiting(effect)
    for (let i = 0; i < 100 && fiber.unsafePoll() === null; i++) yield* Effect.yieldNow()
    yield* TestClock.adjust("61 seconds")
    return yield* Fiber.join(fiber)
  })

const suffers = (stage: Stage, fault: keyof typeof faults, row: Row) =>
  Effect.gen(function*() {
    const { commit, connector, said } = yield* played(stage, fault)
    let endings = 0
    const once = <A>(call: Effect.Effect<A, ConnectError>) =>
      outcome(Effect.ensuring(call, Effect.sync(() => endings++)))
    const connecting = yield* whatever(Effect.exit(Client.make(connector)))
    if (stage === "connect" || stage === "initialize") {
      expect("the handshake", yield* outcome(connecting), row.victim)
      // A server that is not initialized has nothing to stop.
      assert.notInclude(said, "notifications/cancelled")
    }
    if (Exit.isFailure(connecting)) return
    const client = connecting.value
    const ended = yield* Effect.fork(client.ended)
    const diagnostics: Array<string> = []
    yield* waiting(Stream.runForEach(client.diagnostics, ({ _tag }) => Effect.sync(() => diagnostics.push(_tag))))
    if (stage === "idle") {
      yield* commit
      expect("what is asked next", yield* whatever(once(client.ping())), row.victim)
      assert.strictEqual(endings, 1)
    }
    if (stage === "call") {
      const [victim, beside] = yield* whatever(
        Effect.all([once(client.callTool("victim")), once(client.callTool("beside"))], { concurrency: 2 })
      )
      expect("the call", victim, row.victim)
      expect("the call beside it", beside, row.beside)
      assert.strictEqual(endings, 2)
      expect("afterwards", yield* whatever(outcome(client.ping())), row.after)
      assert.deepStrictEqual(
        said.filter((method) => method === "notifications/cancelled"),
        row.victim === late.victim ? ["notifications/cancelled"] : []
      )
    }
    yield* Effect.repeatN(Effect.yieldNow(), 20)
    if (stage === "idle" || stage === "call") assert.deepStrictEqual(diagnostics, row.diagnostics)
    if (row.ended === undefined) assert.isNull(ended.unsafePoll(), "the conversation goes on")
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
        leavesNothing(suffers(stage, fault, row)).pipe(Logger.withMinimumLogLevel(LogLevel.None)))
    }
    it.effect("while it is closed, delays neither the closing nor the call in flight", () =>
      leavesNothing(Effect.gen(function*() {
        const { commit, connector } = yield* played("idle", fault)
        // When the conversation is over, and the pipe still there.
        const closing = Connector.make(
          connector.name,
          Effect.zipLeft(connector.connect, Effect.addFinalizer(() => commit))
        )
        const scope = yield* Scope.make()
        const client = yield* Scope.extend(Client.make(closing), scope)
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
      assert.strictEqual(yield* Effect.flip(Client.make(Connector.make("nobody", Effect.fail(refused)))), refused)
    })))
})
