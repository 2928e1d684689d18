/**
 * A text that says where the stream of a request can be resumed, also by a later connection: the id under which the request was sent, and
 * the id of the last event. `legacy/Post` makes and reads the token, and `Outgoing` reads the request id. Applications store the token
 * without reading it.
 */
import * as Either from "effect/Either"
import { TransportError } from "../../jsonrpc/LocalError.js"

/** The id under which a request was sent, and the id of the last event of its stream. */
export interface LastEvent {
  readonly requestId: number
  readonly eventId: string
}

export const make = (requestId: unknown, eventId: string): string => `${String(requestId)} ${eventId}`

const pattern = /^(\d{1,15}) ([\x20-\x7e]{1,4096})$/

/** Reads a token. Fails with reason `Write` when this client has not made the token, because then nothing is sent. */
export const parse = (token: string): Either.Either<LastEvent, TransportError> => {
  const [, requestId, eventId] = pattern.exec(token) ?? []
  return requestId === undefined || eventId === undefined
    ? Either.left(new TransportError({ reason: "Write", message: "This client has not made the resumption token" }))
    : Either.right({ requestId: Number(requestId), eventId })
}
