/**
 * Reads the envelope of a message once, though two modules need it: over HTTP it is checked before the headers are, and
 * `Serve` uses it afterwards.
 */
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import type { InvalidParams } from "@effect-mcp/protocol/McpError"
import { UnsupportedVersion } from "@effect-mcp/protocol/McpError"
import * as Envelope from "@effect-mcp/protocol/modern/Envelope"
import * as Either from "effect/Either"
import * as Subject from "../runtime/Subject.js"

type Read = Either.Either<Envelope.Envelope, InvalidParams | UnsupportedVersion>

/** The last message that was read with `keep`, until it is read again. A `WeakMap` would cost more than decoding twice. */
let kept: { readonly message: Request | Notification; readonly read: Read } | undefined

/** The envelope of a message, or why the message is refused. */
export const of = (message: Request | Notification, versions: ReadonlyArray<string>): Read => {
  const last = kept
  kept = undefined
  return last?.message === message
    ? last.read
    : Either.mapLeft(Envelope.decode(message.params, versions), shortened)
}

/** As `of`; if the next `of` is for the same message, it does not decode again. */
export const keep = (message: Request, versions: ReadonlyArray<string>): Read => {
  const read = of(message, versions)
  kept = { message, read }
  return read
}

const shortened = (error: InvalidParams | UnsupportedVersion): InvalidParams | UnsupportedVersion =>
  error._tag === "UnsupportedVersion"
    ? new UnsupportedVersion({ requested: Subject.quotable(error.requested), supported: error.supported })
    : error
