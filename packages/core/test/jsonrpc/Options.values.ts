/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted; nothing runs.
 */
import * as Conversation from "@effect-mcp/core/Conversation"
import * as LineFraming from "@effect-mcp/core/LineFraming"
import type * as Outbound from "@effect-mcp/core/Outbound"
import * as Side from "@effect-mcp/core/Side"
import * as Sse from "@effect-mcp/core/Sse"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect, Stream } from "effect"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

const send = {
  resumptionToken: "token",
  onResumptionToken: (token) => Effect.logDebug(token),
  around: (sending) => sending
} satisfies Every<Transport.SendOptions>

const sending = {
  ...send,
  timeout: "10 seconds",
  resetTimeoutOnProgress: true,
  maxTotalTimeout: "1 minute",
  onProgress: ({ progress }) => Effect.logDebug(progress),
  cancelOnAbandon: false,
  cancelReason: "the user has left",
  onId: (id) => String(id)
} satisfies Every<Outbound.RequestOptions>

const conversation = {
  timeout: "1 minute",
  maxInFlight: 10,
  maxWaiting: 100,
  maxWaitingText: 1_000_000,
  maxPending: 100,
  closeTimeout: "5 seconds",
  report: (diagnostic) => Effect.logWarning(diagnostic),
  reportOnly: true,
  heartbeat: { interval: "30 seconds", method: () => "ping" },
  batches: () => true,
  afterId: 7
} satisfies Every<Conversation.Options>

const lines = {
  maxLineBytes: 1_000_000,
  invalidBytes: "strict",
  maxDepth: 64,
  maxNodes: 1_000_000,
  maxResponseNodes: 1_000_000
} satisfies Every<LineFraming.Options>

const events = { maxEventBytes: 1_000_000, reportAtEnd: (start) => start.startsWith("data:") } satisfies Every<
  Sse.Options
>

export const requested = Effect.scoped(
  Effect.gen(function*() {
    const [here] = yield* Transport.memory({ capacity: 16 })
    const side = yield* Side.make({ onRequest: () => Effect.succeed({}), onNotification: () => Effect.void })
    const { request } = yield* Conversation.make(here, side, conversation)
    return yield* request("ping", undefined, sending)
  })
)

export const decoded = [
  LineFraming.decode(Stream.empty, lines),
  new LineFraming.Decoder(lines),
  new Sse.Decoder(events)
]
