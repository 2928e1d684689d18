/**
 * A client of revision 2025-11-25 or earlier with one session. It calls several tools at a time, answers questions, and reads its
 * standalone stream. When a stream was cut, the client resumes the stream at the node that the balancer chooses. The client also cuts some
 * streams itself.
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { now, type Outcome } from "./History.js"
import type { Event, HttpFault, Request } from "./Http.js"
import * as Http from "./Http.js"
import * as Message from "./Message.js"
import { boards, CALL_LIMIT, nextBoard, Run } from "./Run.js"

export type Version = "2025-03-26" | "2025-06-18" | "2025-11-25"

interface Position {
  readonly id: string
  readonly stream: string
  readonly position: number
}

const positionOf = (id: string | undefined): Position | undefined => {
  const [, stream, position] = /_([0-9a-z]+)_(\d+)$/.exec(id ?? "") ?? []
  return stream === undefined ? undefined : { id: id!, stream, position: Number(position) }
}

const PAUSE = "100 millis"

export interface LegacyClient {
  /** Calls tools. Ends when the run is over and every call has ended. */
  readonly calling: Effect.Effect<void>
  /**
   * Writes down that the client has read its standalone stream until the end of the run. Does nothing when the server has refused to resume
   * the stream, or when no event came.
   */
  readonly finish: Effect.Effect<void>
}

/** Opens a session. Tries again until a node has accepted the handshake. */
export const open = (
  name: string,
  version: Version
): Effect.Effect<{ readonly session: string; readonly headers: Request["headers"] }, never, Run> =>
  Effect.gen(function*() {
    const { balancer } = yield* Run
    const common = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...version === "2025-03-26" ? undefined : { "mcp-protocol-version": version }
    }

    const initialize = Effect.scoped(Effect.gen(function*() {
      const response = yield* balancer.send({
        method: "POST",
        headers: common,
        body: Message.request(0, "initialize", {
          protocolVersion: version,
          capabilities: version === "2025-03-26" ? {} : { elicitation: {} },
          clientInfo: { name, version: "1" }
        })
      })
      const session = response.headers["mcp-session-id"]
      yield* Http.text(response)
      if (typeof session !== "string") return yield* Effect.fail("there is no session")
      const headers = { ...common, "mcp-session-id": session }
      const body = Message.request(undefined, "notifications/initialized", {})
      const { statusCode } = yield* balancer.send({ method: "POST", headers, body })
      return statusCode === 202 ? { session, headers } : yield* Effect.fail("the handshake was refused")
    }))
    return yield* Effect.eventually(Effect.tapError(initialize, () => Effect.sleep(PAUSE)))
  })

/** Opens a session, and reads its standalone stream until the scope closes. */
export const make = (
  name: string,
  version: Version,
  callers: number
): Effect.Effect<LegacyClient, never, Run | Scope.Scope> =>
  Effect.gen(function*() {
    const { balancer, isOver, write } = yield* Run
    const scope = yield* Effect.scope
    const { headers, session } = yield* open(name, version)

    /** Sends a message that is not a call. Repeats this until a node answers with another status than 503. */
    const deliver = (body: string): Effect.Effect<void> =>
      Effect.scoped(balancer.send({ method: "POST", headers, body })).pipe(
        Effect.filterOrFail(({ statusCode }) => statusCode !== 503, () => "try again"),
        Effect.tapError(() => Effect.sleep(PAUSE)),
        Effect.eventually,
        Effect.asVoid
      )

    const take = (event: Event): Position | undefined => {
      const found = positionOf(event.id)
      if (found === undefined) {
        write(Message.seen(name, event.data))
        return undefined
      }
      const { position, stream } = found
      const message = Message.parse(event.data)
      write({
        ...{ _tag: "Received", at: now(), client: name, session, stream, position, data: event.data },
        madeFor: Message.madeFor(event.data),
        answers: Message.isResponse(message) ? Number(message.id) : undefined
      })
      return found
    }

    /** Reads a stream until the response of the request. When the stream ends before the response, resumes the stream. */
    const read = (id: number, first: Request): Effect.Effect<Outcome> => {
      let last: Position | undefined
      let cutAfter = Math.random() < 0.2 ? 1 + Math.floor(Math.random() * 4) : Infinity
      let attempt = first
      const readOn = Effect.scoped(Effect.gen(function*() {
        const response = yield* balancer.send(attempt)
        const status = response.statusCode!
        if (status >= 400) {
          if (last === undefined || status === 404) return Option.some<Outcome>({ type: "refused", status })
          if (status !== 400) return Option.none()
          const { position, stream } = last
          write({ _tag: "Unresumable", at: now(), client: name, session, stream, position, status })
          return Option.some<Outcome>({ type: "gap" })
        }
        if (!Http.isEventStream(response)) {
          return Option.some(Message.outcomeOf(Message.parse(yield* Http.text(response))))
        }
        return yield* Stream.runHead(
          Stream.filterMapEffect(
            Stream.takeUntil(Http.events(response), () => --cutAfter <= 0 && !isOver()),
            (event) => Option.some(receive(event))
          ).pipe(Stream.filterMap((found) => found))
        )
      }))
      const receive = (event: Event) =>
        Effect.gen(function*() {
          last = take(event) ?? last
          const message = Message.parse(event.data)
          if (message.method === "elicitation/create") {
            const result = { action: "accept", content: { confirmed: true } }
            // The attempts run in the scope of the client, because the scope of the stream may end first. They end with the client, because
            // then there may be no node any more.
            yield* Effect.forkIn(deliver(JSON.stringify({ jsonrpc: "2.0", id: message.id, result })), scope)
          }
          if (!Message.isResponse(message) || message.id !== id) return Option.none()
          if (last !== undefined) write({ _tag: "Followed", at: now(), client: name, session, stream: last.stream })
          return Option.some(Message.outcomeOf(message))
        })
      const again = (fault?: HttpFault): Effect.Effect<Outcome> => {
        if (last === undefined) {
          // A request that could not be sent is sent again.
          if (fault?.reason === "unreachable") return Effect.delay(loop, PAUSE)
          return Effect.succeed({ type: "broken" })
        }
        cutAfter = Infinity
        attempt = { method: "GET", headers: { ...headers, "last-event-id": last.id } }
        return Effect.delay(loop, PAUSE)
      }
      const loop: Effect.Effect<Outcome> = Effect.suspend(() =>
        Effect.matchEffect(readOn, {
          onFailure: again,
          onSuccess: Option.match({ onNone: () => again(), onSome: (outcome) => Effect.succeed(outcome) })
        })
      )
      return loop
    }

    let calls = 0
    const call = (tool: string, args: object) =>
      Effect.gen(function*() {
        const id = ++calls
        const nonce = `${name}/${id}`
        write({ _tag: "Called", at: now(), client: name, call: nonce, session })
        const params = { name: tool, arguments: { nonce, ...args }, _meta: { progressToken: nonce } }
        const body = Message.request(id, "tools/call", params)
        const outcome = yield* Effect.timeoutOption(read(id, { method: "POST", headers, body }), CALL_LIMIT)
        if (Option.isNone(outcome)) return
        write({ _tag: "Ended", at: now(), client: name, call: nonce, session, outcome: outcome.value })
      })

    const next = Effect.suspend(() => {
      const chance = Math.random()
      if (chance < 0.55) {
        // Some calls are long, so that nearly always a call is running when a fault begins.
        const steps = Math.floor(Math.random() * (Math.random() < 0.3 ? 60 : 12))
        return call("work", { steps, millis: 10 + Math.random() * 60 | 0 })
      }
      if (chance < 0.65) {
        return call("change", { uri: nextBoard() })
      }
      if (chance < 0.85) return call("tell", {})
      return version === "2025-03-26" ? call("work", { steps: 0, millis: 0 }) : call("question", {})
    })

    let standalone: Position | undefined
    let isTracked = true
    const listening = Effect.scoped(Effect.gen(function*() {
      const resumed = standalone
      const response = yield* balancer.send({
        method: "GET",
        headers: { ...headers, ...resumed === undefined ? undefined : { "last-event-id": resumed.id } }
      })
      const status = response.statusCode!
      if (status === 400 && resumed !== undefined) {
        const { position, stream } = resumed
        write({ _tag: "Unresumable", at: now(), client: name, session, stream, position, status })
        isTracked = false
        standalone = undefined
      }
      if (status !== 200) return
      const cut = Effect.repeat(Effect.sleep(2000 + Math.random() * 4000), { while: isOver })
      yield* Stream.runForEach(Stream.interruptWhen(Http.events(response), cut), (event) =>
        Effect.sync(() => {
          standalone = take(event) ?? standalone
        }))
    }))
    yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.ignore(listening), PAUSE)))
    const subscribed = boards.filter((_, n) => n % 12 === 0)
    for (const uri of subscribed) yield* deliver(Message.request(++calls, "resources/subscribe", { uri }))

    // These calls begin every 300 ms, even while other calls wait for a node that does not answer.
    const probing = Effect.gen(function*() {
      const probes = yield* FiberSet.make<void>()
      const probe = FiberSet.run(probes, call("work", { steps: 0, millis: 0 }))
      yield* Effect.repeat(Effect.delay(probe, "300 millis"), { until: isOver })
      yield* FiberSet.awaitEmpty(probes)
    })
    const caller = Effect.repeat(Effect.delay(next, PAUSE), { until: isOver })
    const calling = Effect.scoped(Effect.all([probing, ...Array.from({ length: callers }, () => caller)], {
      concurrency: "unbounded",
      discard: true
    }))
    const finish = Effect.sync(() => {
      if (!isTracked || standalone === undefined) return
      write({ _tag: "Followed", at: now(), client: name, session, stream: standalone.stream })
    })
    return { calling, finish }
  })
