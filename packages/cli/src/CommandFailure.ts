/**
 * The failure of a command. `Cli` makes the exit code of the process from the kind of the failure. The kind is `usage` for words that the
 * program does not understand, `connect` when the server cannot be reached, and `timeout` when the server does not answer in time. Every
 * other failure has the kind `refused`.
 */
import { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import type { ClientError, ConnectError } from "@effect-mcp/core/ClientError"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import * as Data from "effect/Data"

export const codes = { refused: 1, usage: 2, connect: 3, timeout: 4 } as const

export class Failure extends Data.TaggedError("Failure")<{
  readonly kind: keyof typeof codes
  readonly message: string
}> {}

export const usage = (message: string): Failure => new Failure({ kind: "usage", message })

export const refused = (message: string): Failure => new Failure({ kind: "refused", message })

const kindOf = (error: ConnectError): keyof typeof codes =>
  error._tag === "RequestTimeout"
    ? "timeout"
    : error._tag === "ConnectionClosed" || (error._tag === "TransportError" && error.reason !== "Decode")
    ? "connect"
    : "refused"

/** Converts the error of a call to the failure of the command. */
export const ofCall = (error: ClientError): Failure => new Failure({ kind: kindOf(error), message: sentence(error) })

/** Converts an error of the connection to the failure of the command, with the name of the server. Its kind is `timeout` or `connect`. */
export const ofConnect = (name: string, error: ConnectError): Failure => {
  const kind = kindOf(error)
  return new Failure({
    kind: kind === "refused" ? "connect" : kind,
    message: `Cannot connect to ${name}: ${sentence(error)}`
  })
}

/** Says what happened, with advice for the user of a command. */
const sentence = (error: ConnectError): string => {
  if (error._tag === "NotNegotiated" && error.declaredBy === "server" && error.capability !== undefined) {
    return `The server has no ${error.capability.replace(/^.*\//, "").replace(".", " ")}`
  }
  const { cause, message } = error as Error
  if (cause instanceof HttpResponseError && cause.status === 401) {
    return cause.hadCredentials === true
      ? "The server does not accept the header `Authorization` of the request"
      : "The server asks for a login: give it a header with --header \"Authorization: …\", or leave out --no-login"
  }
  return inFlags(
    cause instanceof AuthorizationError && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
  )
}

const TOKEN = "Give a token with --header \"Authorization: Bearer …\""

/** Advice of the library for the author of a program, each with the advice that the user of a command gets instead. */
const FLAGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/name it with the option `versions`/, "name it with --revision"],
  [/name its host in the option `privateHosts`/, "name its host with --private-host"],
  [
    /`allowOthers` of `CredentialDirectory\.layer` allows it, `--allow-others` at the command line/,
    "--allow-others allows it"
  ],
  [/(If that server is right, r|R)egister the client (there|by hand) and give it as `preRegistered`.*/, TOKEN],
  [/give what follows the first space in `args`/, "write each word of the command line as a separate word"],
  [
    / If [^.]* in the option `exceptions`.*/,
    " A program can make an exception for this authorization server; the command line cannot"
  ],
  [/call `login` of `Authorization`.*/, "log in with `effect-mcp login`"],
  [/name the scopes in the option `scopes`.*/, "log in again with `effect-mcp logout` and `effect-mcp login`"],
  [/; or name the tenant yourself, by `Providers\.entra`/, ""],
  [/; add the feature that declares it.*/, ""],
  [/: `HttpResponseError\.body` has the answer/, ""],
  [/, or pass another `port`/, ""],
  // Removes advice about an option that the command line does not have.
  [/[;:,.] [^;:,.]*\b[Tt]he option `[^.;]*/, ""]
]

/**
 * The most characters of a text in which options are replaced. The library's own sentences are shorter, so a longer text comes from a
 * server.
 */
const MAX_LENGTH = 4000

/** Replaces options of the library in a sentence by options of the command line. */
export const inFlags = (text: string): string =>
  text.length > MAX_LENGTH ? text : FLAGS.reduce((so, [pattern, words]) => so.replace(pattern, words), text)
