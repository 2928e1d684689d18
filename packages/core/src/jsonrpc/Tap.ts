/**
 * A tap receives a copy of every message that a transport sends or receives, so that a developer can find a fault. Secrets are left out. A
 * transport without a tap has no extra cost.
 *
 * `Redaction` finds the secrets by their names and by their forms. The tap still shows a secret that has another name and another form, for
 * example in an argument of a tool.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import * as EffectInternals from "../kit/EffectInternals.js"
import type { Connector } from "./Connector.js"
import * as Redaction from "./Redaction.js"
import { type Delivery, run, type Transport } from "./Transport.js"

/**
 * A message that a transport has received (`in`) or sent (`out`).
 *
 * @category models
 */
export interface Tapped {
  readonly direction: "in" | "out"
  /** The name of the connector or of the listener. */
  readonly name: string
  /** The message as JSON on one line, without secrets. For input that is not a message, the JSON has one member `malformed`. */
  readonly text: string
}

/**
 * A function that receives the messages in order. A slow tap does not delay messages: when 256 effects of the tap run, the tap does not
 * receive further messages.
 *
 * @category models
 */
export type Tap = (tapped: Tapped) => Effect.Effect<void>

const MAX_RUNNING = 256

/** How many characters of a message are logged. */
const MAX_LOGGED = 4000

/**
 * Logs the first 4,000 characters of each message on one line, at level `Info`.
 *
 * @category utils
 */
export const log: Tap = ({ direction, name, text }) =>
  Effect.logInfo(
    `${name} ${direction === "in" ? "<-" : "->"} ${text.length > MAX_LOGGED ? `${text.slice(0, MAX_LOGGED)}…` : text}`
  )

/**
 * Returns a function that passes messages to a tap. `name` is the name of the connector or of the listener.
 *
 * @category constructors
 */
export const make = (
  name: string,
  tap: Tap
): Effect.Effect<(direction: Tapped["direction"], delivery: Delivery) => void> =>
  Effect.map(EffectInternals.services, (services) => {
    let running = 0
    const ended = Effect.sync(() => running--)
    return (direction, delivery) => {
      if (running === MAX_RUNNING) return
      running++
      const shown = "_tag" in delivery ? { malformed: delivery } : delivery
      const run = Effect.suspend(() => tap({ direction, name, text: textOf(shown) }))
      EffectInternals.runFork(services, Effect.ensuring(run, ended))
    }
  })

/**
 * Returns the same transport with a tap. Default tap: `log`.
 *
 * @category combinators
 */
export const transport = (self: Transport, name: string, tap: Tap = log): Effect.Effect<Transport> =>
  Effect.map(make(name, tap), (pass) => ({
    ...self,
    incoming: Stream.tap(self.incoming, (delivery) => Effect.sync(() => pass("in", delivery))),
    run: (receive) =>
      run(self, (delivery) => {
        pass("in", delivery)
        receive(delivery)
      }),
    send: (message) =>
      Effect.suspend(() => {
        pass("out", message)
        return self.send(message)
      }),
    unsafeSend: (message, ...more) => {
      pass("out", message)
      return self.unsafeSend(message, ...more)
    }
  }))

/**
 * Returns the same connector with a tap on each connection.
 *
 * @example
 * ```ts
 * import * as Remote from "@effect-mcp/core/Remote"
 * import * as Tap from "@effect-mcp/core/Tap"
 *
 * export const connector = Tap.connector(Remote.connector("http://127.0.0.1:3000/mcp"))
 * ```
 * @category combinators
 */
export const connector = <R>(self: Connector<R>, tap: Tap = log): Connector<R> => ({
  ...self,
  connect: Effect.flatMap(self.connect, (opened) => transport(opened, self.name, tap))
})

const textOf = (value: object): string =>
  Either.getOrElse(
    Either.try(() => JSON.stringify(Redaction.value(value))),
    () => "\"a message without a JSON form\""
  )
