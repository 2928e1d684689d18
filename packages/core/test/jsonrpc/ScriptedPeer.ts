/**
 * One conversation and, at the other end of its transport, a peer that sends exactly what a test scripts and records
 * what it receives. Also sides made of a record of methods.
 */
import * as Conversation from "@effect-mcp/core/Conversation"
import type { Diagnostic } from "@effect-mcp/core/Diagnostic"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as Outcome from "@effect-mcp/core/Outcome"
import type * as Side from "@effect-mcp/core/Side"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect, Exit, Fiber, Queue, Scope } from "effect"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"

export type Serve = (
  request: Message.Request,
  incoming: Side.IncomingRequest
) => Effect.Effect<unknown, unknown> | Side.Work

/** A side that serves these methods, and "ping". */
export const side = (
  methods: { readonly [method: string]: Serve },
  onNotification: Side.Side["onNotification"] = () => undefined
): Side.Side => ({
  onRequest: (request, incoming) => {
    const serve = methods[request.method] ?? (request.method === "ping" ? () => Effect.succeed({}) : unknown)
    const served = serve(request, incoming)
    return Effect.isEffect(served) ? { effect: served, reply: Outcome.fromExit } : served
  },
  onNotification
})

const unknown: Serve = (request) =>
  new JsonRpcError.JsonRpcError({ code: JsonRpcError.METHOD_NOT_FOUND, message: `Unknown method: ${request.method}` })

export interface Peer {
  readonly transport: Transport.Transport
  readonly send: (message: Message.Message) => Effect.Effect<void>
  readonly request: (id: Message.RequestId, method: string, params?: Message.Params) => Effect.Effect<void>
  readonly notify: (method: string, params?: Message.Params) => Effect.Effect<void>
  readonly answer: (id: Message.RequestId, result?: Message.Params) => Effect.Effect<void>
  readonly cancel: (id: unknown) => Effect.Effect<void>
  /** The next message that arrives. */
  readonly receive: Effect.Effect<Message.Incoming>
  /** Sends a "ping" and returns the messages that arrive before its answer: all that were sent up to now. */
  readonly received: Effect.Effect<Array<Message.Incoming>>
  readonly disconnect: Effect.Effect<void>
  /** Waits until the other side has closed the pipe; returns the messages that the test has not taken. */
  readonly closed: Effect.Effect<Array<Message.Incoming>>
}

export const peer = (transport: Transport.Transport): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Message.Incoming>()
    const reader = yield* Effect.forkScoped(Transport.run(transport, (incoming) => {
      if (!(incoming instanceof Transport.Undelivered)) Queue.unsafeOffer(queue, incoming)
    }))
    yield* untilSuspended(reader)
    let pings = 0
    const send = (message: Message.Message) => Effect.orDie(transport.send(message))
    return {
      transport,
      send,
      request: (id, method, params) => send(Message.request(id, method, params)),
      notify: (method, params) => send(Message.notification(method, params)),
      answer: (id, result = {}) => send(Message.success(id, result)),
      cancel: (requestId) => send(Message.notification("notifications/cancelled", { requestId })),
      receive: Queue.take(queue),
      received: Effect.gen(function*() {
        const id = `ping-${++pings}`
        yield* send(Message.request(id, "ping"))
        const before: Array<Message.Incoming> = []
        while (true) {
          const next = yield* Queue.take(queue)
          if (!Message.isMalformed(next) && Message.isResponse(next) && next.id === id) return before
          before.push(next)
        }
      }),
      disconnect: Effect.asVoid(Fiber.interrupt(reader)),
      closed: Effect.zipRight(Fiber.await(reader), Effect.map(Queue.takeAll(queue), (all) => [...all]))
    }
  })

export interface Connected {
  readonly conversation: Conversation.Conversation
  readonly peer: Peer
  /** Everything that was reported, in order. */
  readonly diagnostics: Array<Diagnostic>
  /** The next diagnostic that the test has not taken. */
  readonly diagnostic: Effect.Effect<Diagnostic>
  /** Closes the scope of the conversation. */
  readonly closeScope: Effect.Effect<void>
}

/** A conversation with a scripted peer; it has a scope of its own. */
export const connect = (
  served: Side.Side | ((outbound: Conversation.Conversation) => Side.Side) = side({}),
  options: Conversation.Options = {},
  capacity?: number
): Effect.Effect<Connected, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [here, there] = yield* Transport.memory({ capacity })
    const diagnostics: Array<Diagnostic> = []
    const reported = yield* Queue.unbounded<Diagnostic>()
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const conversation = yield* Conversation.make(here, served as Side.Side, {
      report: (diagnostic) =>
        Effect.sync(() => {
          diagnostics.push(diagnostic)
          Queue.unsafeOffer(reported, diagnostic)
        }),
      ...options
    }).pipe(Scope.extend(scope))
    return {
      conversation,
      peer: yield* peer(there),
      diagnostics,
      diagnostic: Queue.take(reported),
      closeScope: Scope.close(scope, Exit.void)
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

/** The error that an effect fails with; dies when it succeeds. */
export const refusal = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, never, R> =>
  Effect.orDieWith(Effect.flip(effect), (value) => new Error(`Expected a failure, got ${JSON.stringify(value)}`))
