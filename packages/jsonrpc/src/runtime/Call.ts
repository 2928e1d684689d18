/**
 * One call of ours: what `Pending` knows about it from before it is sent until its caller is resumed, its progress token,
 * and the error of a call that could not be sent. `Pending` holds the calls and ends them.
 */
import type * as Effect from "effect/Effect"
import { ConnectionClosed, TransportError } from "../LocalError.js"
import type * as Message from "../Message.js"
import type { CallError } from "../Outbound.js"
import type { SendOptions } from "../Transport.js"
import * as Json from "./Json.js"
import type { ProgressDelivery } from "./ProgressDelivery.js"

/** Sends a message at once; `false` when the transport is closed. */
export type Send = (message: Message.Message, options?: SendOptions) => boolean

export type CallExit = Effect.Effect<Message.Params, CallError>

export interface Call {
  readonly id: Message.RequestId
  readonly method: string
  readonly send: Send
  /** What the transport needs to send it. */
  readonly options: SendOptions | undefined
  readonly resume: (exit: CallExit) => void
  readonly cancelOnAbandon: boolean
  readonly started: number
  /** The timeout of the call. */
  readonly millis: number
  /** The deadline that neither progress nor a pause extends. */
  readonly latest: number
  readonly resetOnProgress: boolean
  readonly delivery: ProgressDelivery | undefined
  deadline: number
  isSent: boolean
  /** How many characters it counts for while it is in flight. */
  text: number
  /** The answer, while progress that arrived before it is still being delivered. */
  answer: CallExit | undefined
}

// The id of the request serves as its token: it is unique among the calls in flight.
export const withProgressToken = (params: Message.Params | undefined, id: Message.RequestId): Message.Params => ({
  ...params,
  _meta: { ...(params?._meta as Message.Params | undefined), progressToken: id }
})

export const notSent = (message: Message.Request): CallError =>
  Json.stringify(message) === undefined
    ? new TransportError({ reason: "Encode", message: `The parameters of "${message.method}" have no JSON form` })
    : new ConnectionClosed({})
