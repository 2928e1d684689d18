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

const known = new WeakMap<Request | Notification, Read>()

/** The envelope of a message, or why the message is refused. */
export const of = (message: Request | Notification, versions: ReadonlyArray<string>): Read =>
  known.get(message) ?? Either.mapLeft(Envelope.decode(message.params, versions), shortened)

/** As `of`; the next `of` for the same message does not decode again. */
export const keep = (message: Request, versions: ReadonlyArray<string>): Read => {
  const read = of(message, versions)
  known.set(message, read)
  return read
}

const shortened = (error: InvalidParams | UnsupportedVersion): InvalidParams | UnsupportedVersion =>
  error._tag === "UnsupportedVersion"
    ? new UnsupportedVersion({ requested: Subject.quotable(error.requested), supported: error.supported })
    : error
