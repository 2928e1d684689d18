import { assert, it } from "@effect/vitest"
import { ChangeBus } from "@effect-mcp/core/ChangeBus"
import { EventStore } from "@effect-mcp/core/EventStore"
import { Inbox } from "@effect-mcp/core/Inbox"
import { SealKeys } from "@effect-mcp/core/SealKeys"
import { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import { SharedLimits } from "@effect-mcp/core/SharedLimits"
import { type StoredTask, TaskStore } from "@effect-mcp/core/TaskStore"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import { Clock, Context, Effect, Layer, Queue, Schedule, type Scope, Stream } from "effect"
import { inject } from "vitest"
import * as Postgres from "./Postgres.js"
import * as PostgresProcess from "./PostgresProcess.js"
import * as StalledProxy from "./StalledProxy.js"
import { unhandled } from "./unhandled.js"

/** So long that a busy machine is not late while the database is there. In milliseconds. */
const TIMEOUT = 2000

/** How a database goes away, and is there again. */
interface Away {
  /** The address at which nodes reach it. */
  readonly url: string
  /** The address at which it can be reached in any case. */
  readonly direct: string
  readonly begin: Effect.Effect<unknown>
  readonly end: Effect.Effect<unknown>
  /** Whether the connection ends that listens. */
  readonly isLost: boolean
}

/** One server, for a network that fails: each case has a database and a proxy of its own. */
const network = (fail: (proxy: Effect.Effect.Success<ReturnType<typeof StalledProxy.make>>) => void) =>
  Effect.gen(function*() {
    const direct = yield* Postgres.database
    const url = new URL(direct)
    const proxy = yield* StalledProxy.make(Number(url.port))
    url.port = `${proxy.port}`
    const begin = Effect.sync(() => fail(proxy))
    return { url: url.href, direct, begin, end: Effect.sync(proxy.forward), isLost: true } satisfies Away
  })

const server = (
  fault: (process: PostgresProcess.PostgresProcess) => Pick<Away, "begin" | "end" | "isLost">
): Effect.Effect<Away, never, Scope.Scope> =>
  Effect.map(
    PostgresProcess.make({ template: inject("postgresTemplate") }),
    (process) => ({ url: process.url, direct: process.url, ...fault(process) })
  )

const cases: ReadonlyArray<{ readonly name: string; readonly make: Effect.Effect<Away, unknown, Scope.Scope> }> = [
  { name: "is cut off", make: network(({ cut }) => cut()) },
  { name: "is behind a network that swallows everything", make: network(({ stall }) => stall()) },
  { name: "stands still", make: server(({ pause, resume }) => ({ begin: pause, end: resume, isLost: false })) },
  { name: "has ended", make: server(({ start, stop }) => ({ begin: stop, end: start, isLost: true })) }
]

const task: StoredTask = {
  taskId: "t",
  owner: "ada",
  revision: "2025-11-25",
  version: 1,
  status: "working",
  createdAt: Date.now(),
  lastUpdatedAt: Date.now(),
  ttl: 3_600_000,
  pollInterval: 1000,
  questions: {},
  answers: {}
}

/** What reads and writes, by the error that its interface promises; those of `never` fail with none. */
const operations = (url: string) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(Layer.fresh(PgNodes.layer({ url, timeout: TIMEOUT })))
    const events = Context.get(context, EventStore)
    const directory = Context.get(context, SessionDirectory)
    const inbox = Context.get(context, Inbox)
    const tasks = Context.get(context, TaskStore)
    const limits = Context.get(context, SharedLimits)
    const keys = Context.get(context, SealKeys)
    const member = yield* again(directory.join("one"))
    yield* member.create("s", {})
    const { send } = yield* inbox.open("one")
    const { publish } = yield* Context.get(context, ChangeBus).join
    yield* tasks.create(task)
    let next = 1
    const key = () => ({ session: "s", stream: `${next}` })
    const event = () => ({ position: next++, data: "{}" })
    const all: Readonly<Record<string, ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>>>> = {
      EventStoreError: [events.after(key(), -1), events.unfinished(key())],
      SessionDirectoryError: [
        Effect.scoped(Effect.suspend(() => directory.join(`other-${next++}`))),
        Effect.suspend(() => member.create(`s${next++}`, {})),
        member.find("s"),
        member.claim("s", 1),
        member.update("s", 1, {}),
        member.touch(["s"]),
        member.release("s", 1),
        member.remove("s", 1),
        member.isAlive("one")
      ],
      "InboxError Unavailable": [
        Effect.scoped(Effect.suspend(() => inbox.open(`other-${next++}`))),
        send("one", "text")
      ],
      "TaskStoreError Unavailable": [
        Effect.suspend(() => tasks.create({ ...task, taskId: `t${next++}` })),
        tasks.get("ada", "t"),
        tasks.replace({ ...task, version: 2 }),
        tasks.list("ada", { limit: 10 }),
        Stream.runHead(tasks.changes("ada", "t"))
      ],
      SharedLimitsError: [limits.take("k", { burst: 1, every: "1 second" }), limits.once("k", "1 hour")],
      SealKeysError: [keys.current, keys.find("unknown")],
      never: [
        Effect.suspend(() => events.open(key(), [1])),
        Effect.suspend(() => events.append(key(), event())),
        Effect.suspend(() => events.appendAll!(key(), [event(), event()], true)),
        Effect.suspend(() => events.finish(key())),
        events.forget("other"),
        publish({ _tag: "List", kind: "tools" })
      ]
    }
    return Object.entries(all).flatMap(([error, effects]) => effects.map((effect) => ({ error, effect })))
  })

const millis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))

const again = Effect.retry({ times: 50, schedule: Schedule.spaced("200 millis") })

/** A node's connection, and how often it is woken. */
const connect = (url: string) =>
  Effect.map(
    Layer.build(Layer.provide(
      Layer.fresh(SqlConnection.layerWith({ timeout: TIMEOUT })),
      Layer.fresh(PgNodes.client({ url, timeout: TIMEOUT }))
    )),
    (context) => Context.get(context, SqlConnection.SqlConnection)
  )

Postgres.suite.concurrent("nodes, while PostgreSQL", () => {
  for (const { make, name } of cases) {
    it.scopedLive(`${name}, everything fails in time as it promises, and works again later, and no listener is lost`, () =>
      Effect.gen(function*() {
        const errors = yield* unhandled
        const { begin, direct, end, isLost, url } = yield* make
        const every = yield* operations(url)
        const woken = yield* Queue.unbounded<void>()
        const one = yield* connect(url)
        yield* Effect.forkScoped(Stream.runForEach(one.wakes("a", "1 hour"), () => Queue.offer(woken, undefined)))
        // The first look, and the one when the connection listens.
        yield* Effect.zipRight(Queue.take(woken), Queue.take(woken))
        const two = yield* connect(direct)

        yield* begin
        // A busy machine makes one late now and then; without a limit it would be late each time.
        const failed = yield* Effect.forEach(every, ({ effect, error }) =>
          Effect.gen(function*() {
            const before = yield* millis
            const failure = yield* Effect.match(effect, {
              // What no connection could be made for is refused. Whether it was may depend on the moment.
              onFailure: ({ _tag, ...fields }) =>
                "reason" in fields ? `${_tag} ${String(fields.reason).replace("Refused", "Unavailable")}` : _tag,
              onSuccess: () => "never"
            })
            return [error, failure, (yield* millis) - before < 4 * TIMEOUT] as const
          }).pipe(Effect.repeat({ times: 2, until: ([, , isInTime]) => isInTime })), { concurrency: "unbounded" })
        assert.deepStrictEqual(failed, every.map(({ error }) => [error, error, true]))
        assert.strictEqual(yield* Queue.size(woken), 0)

        yield* end
        for (const { effect } of every) yield* again(effect)
        yield* again(two.run("answer", two.sql`SELECT 1`))
        if (isLost) yield* Queue.take(woken)
        // What is sent from now on is heard: nothing was woken before the connection listened.
        yield* two.notify("a")
        yield* Queue.take(woken)
        assert.deepStrictEqual(errors, [])
      }))
  }
})
