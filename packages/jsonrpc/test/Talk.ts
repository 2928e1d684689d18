/**
 * One conversation and, at the other end of its transport, a peer that says exactly what a test tells it to and keeps what
 * it hears. Also sides out of a record of methods, and a way to find out that nothing is left behind.
 */
import { assert } from "@effect/vitest"
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import type { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type * as Side from "@effect-mcp/jsonrpc/Side"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import type { Clock, Duration } from "effect"
import { Effect, Exit, Fiber, Queue, Scheduler, Scope, Supervisor } from "effect"

export type Serve = (
  request: Message.Request,
  exchange: Side.IncomingRequest
) => Effect.Effect<unknown, unknown> | Side.Work

/** A side that serves these methods, and "ping". */
export const side = (
  methods: { readonly [method: string]: Serve },
  onNotification: Side.Side["onNotification"] = () => undefined
): Side.Side => ({
  onRequest: (request, exchange) => {
    const serve = methods[request.method] ?? (request.method === "ping" ? () => Effect.succeed({}) : unknown)
    const served = serve(request, exchange)
    return Effect.isEffect(served) ? { effect: served, reply: Outcome.fromExit } : served
  },
  onNotification
})

const unknown: Serve = (request) =>
  new JsonRpcError.JsonRpcError({ code: JsonRpcError.METHOD_NOT_FOUND, message: `Unknown method: ${request.method}` })

export interface Peer {
  readonly transport: Transport.Transport
  readonly say: (message: Message.Message) => Effect.Effect<void>
  readonly ask: (id: Message.RequestId, method: string, params?: Message.Params) => Effect.Effect<void>
  readonly tell: (method: string, params?: Message.Params) => Effect.Effect<void>
  readonly answer: (id: Message.RequestId, result?: Message.Params) => Effect.Effect<void>
  readonly cancel: (id: unknown) => Effect.Effect<void>
  /** The next message that is heard. */
  readonly hear: Effect.Effect<Message.Incoming>
  /** Everything heard before the answer to a "ping" that is asked now: all that was said up to this point. */
  readonly heard: Effect.Effect<Array<Message.Incoming>>
  readonly hangUp: Effect.Effect<void>
  /** Waits until the other side has hung up; gives what was heard and not looked at. */
  readonly over: Effect.Effect<Array<Message.Incoming>>
}

export const peer = (transport: Transport.Transport): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Message.Incoming>()
    const reader = yield* Effect.forkScoped(Transport.run(transport, (incoming) => {
      if (!Transport.isUndelivered(incoming)) queue.unsafeOffer(incoming)
    }))
    while ((yield* Fiber.status(reader))._tag !== "Suspended") yield* Effect.yieldNow()
    let pings = 0
    const say = (message: Message.Message) => Effect.orDie(transport.send(message))
    return {
      transport,
      say,
      ask: (id, method, params) => say(Message.request(id, method, params)),
      tell: (method, params) => say(Message.notification(method, params)),
      answer: (id, result = {}) => say(Message.success(id, result)),
      cancel: (requestId) => say(Message.notification("notifications/cancelled", { requestId })),
      hear: Queue.take(queue),
      heard: Effect.gen(function*() {
        const id = `ping-${++pings}`
        yield* say(Message.request(id, "ping"))
        const before: Array<Message.Incoming> = []
        while (true) {
          const next = yield* Queue.take(queue)
          if (!Message.isMalformed(next) && Message.isResponse(next) && next.id === id) return before
          before.push(next)
        }
      }),
      hangUp: Effect.asVoid(Fiber.interrupt(reader)),
      over: Effect.zipRight(Fiber.await(reader), Effect.map(Queue.takeAll(queue), (all) => [...all]))
    }
  })

export interface Talk {
  readonly conversation: Conversation.Conversation
  readonly peer: Peer
  /** Everything that was reported, in order. */
  readonly diagnostics: Array<Diagnostic>
  /** The next diagnostic that nobody has waited for. */
  readonly diagnostic: Effect.Effect<Diagnostic>
  /** Closes the scope of the conversation. */
  readonly leave: Effect.Effect<void>
}

/** A conversation with a scripted peer; it has a scope of its own. */
export const talk = (
  served: Side.Side | ((outbound: Conversation.Conversation) => Side.Side) = side({}),
  options: Conversation.Options = {},
  capacity?: number
): Effect.Effect<Talk, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [here, there] = yield* Transport.memory({ capacity })
    const diagnostics: Array<Diagnostic> = []
    const reported = yield* Queue.unbounded<Diagnostic>()
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const conversation = yield* Conversation.make(here, served as Side.Side, {
      report: (diagnostic) =>
        Effect.sync(() => {
          diagnostics.push(diagnostic)
          reported.unsafeOffer(diagnostic)
        }),
      ...options
    }).pipe(Scope.extend(scope))
    return {
      conversation,
      peer: yield* peer(there),
      diagnostics,
      diagnostic: Queue.take(reported),
      leave: Scope.close(scope, Exit.void)
    }
  })

/** Methods that never end by themselves, and a record of which request was stopped. */
export const endless = Effect.gen(function*() {
  const started: Array<Message.RequestId> = []
  const stopped: Array<Message.RequestId> = []
  let wake = () => undefined as void
  const changed = Effect.async<void>((resume) => {
    wake = () => resume(Effect.void)
  })
  const mark = (list: Array<Message.RequestId>, id: Message.RequestId) =>
    Effect.sync(() => {
      list.push(id)
      wake()
    })
  return {
    started,
    stopped,
    serve: ({ id }: Message.Request) =>
      Effect.zipRight(mark(started, id), Effect.onInterrupt(Effect.never, () => mark(stopped, id))),
    /** Waits until this many were stopped. */
    stops: (count: number) =>
      Effect.repeat(Effect.suspend(() => stopped.length < count ? changed : Effect.void), {
        while: () => stopped.length < count
      })
  }
})

/** The same clock, and how many sleep on it. */
const counting = (clock: Clock.Clock) => {
  let sleeping = 0
  const counted: Clock.Clock = Object.create(clock, {
    sleep: {
      value: (duration: Duration.Duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => sleeping++),
          () => clock.sleep(duration),
          () => Effect.sync(() => sleeping--)
        )
    }
  })
  return { clock: counted, sleeping: () => sleeping }
}

/** Runs the effect in a scope of its own, and finds no fiber of it and no timer afterwards. */
export const leavesNothing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.gen(function*() {
    const supervisor = yield* Supervisor.track
    const { clock, sleeping } = counting(yield* Effect.clock)
    const result = yield* Effect.scoped(effect).pipe(Effect.withClock(clock), Effect.supervised(supervisor))
    // What was interrupted last still has to be scheduled.
    for (let i = 0; i < 100 && (yield* supervisor.value).length > 0; i++) yield* Effect.yieldNow()
    assert.strictEqual((yield* supervisor.value).length, 0, "fibers left behind")
    assert.strictEqual(sleeping(), 0, "timers left behind")
    return result
  })

/**
 * Runs the effect once for each step that any of its fibers takes, or for every so manieth, and makes that fiber stop
 * there for so long that the others get as far as they can without it.
 */
export const preempted = <A, E, R>(effect: Effect.Effect<A, E, R>, stride = 1): Effect.Effect<void, E, R> =>
  Effect.gen(function*() {
    for (let at = 0, steps = 1; at < steps; at += stride) {
      let step = 0
      let stopped: unknown
      const later = (task: () => void, turns: number): void =>
        turns === 0 ? task() : Scheduler.defaultScheduler.scheduleTask(() => later(task, turns - 1), 0)
      yield* Effect.withScheduler(effect, {
        shouldYield: (fiber) => {
          if (step++ !== at) return false
          stopped = fiber
          return 0
        },
        scheduleTask: (task, priority, fiber) => {
          if (fiber === undefined || fiber !== stopped) {
            return Scheduler.defaultScheduler.scheduleTask(task, priority, fiber)
          }
          stopped = undefined
          later(task, 12)
        }
      })
      steps = step
    }
  })

/** The error that an effect fails with; dies when it succeeds. */
export const refusal = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, never, R> =>
  Effect.orDieWith(Effect.flip(effect), (value) => new Error(`Expected a failure, got ${JSON.stringify(value)}`))
