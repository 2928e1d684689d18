/**
 * A diagnostic describes an irregular event that did not end its conversation, such as a malformed message, a late answer, or a handler
 * that died. The conversation passes each diagnostic to the application. `log` writes a diagnostic to the log.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type ErrorObject, PARSE_ERROR } from "./JsonRpcError.js"
import type * as Message from "./Message.js"
import * as MessageText from "./MessageText.js"
import * as Redaction from "./Redaction.js"
import * as JsonText from "./runtime/JsonText.js"

/**
 * The kinds of diagnostics:
 * - `Malformed`: input that is not a message. The peer received an error response if the input resembles a request.
 * - `Mended`: this side accepted a message although parts of it are not valid. This side left these parts out, or filled them in. `count`
 *   is the number of these parts. `places` has the first ten, without any value of the peer. If the message calls a tool, `subject` is the
 *   tool, such as `tool "search"`.
 * - `UnknownArguments`: a call has arguments that the tool does not declare. The server accepted the arguments, or refused them if an
 *   option says so. `count` is the number of these arguments. `names` has the first five, each with the most similar argument that the tool
 *   declares, if there is a similar argument. The names are shortened, and written as JSON strings. `subject` is the tool, such as
 *   `tool "search"`.
 * - `Unchecked`: this side accepted a value of the peer without the usual check. `reason` says why.
 * - `HiddenCharacters`: names, titles or descriptions in a list have characters that people do not see. The text that models read does not
 *   contain these characters. `subject` is the list, such as `the tools of "search"`. `count` is the number of affected entries. `names`
 *   has the names of the first five.
 * - `LookAlikes`: names in a list look alike, or one name mixes scripts whose letters look alike. `names` has the first five groups of
 *   names. A name that mixes scripts is a separate group. In `names` of `LookAlikes` and of `HiddenCharacters`, characters outside of ASCII
 *   are escaped.
 * - `UnknownResponse`: a response for which no call waits. `late` is `true` when this side has sent a request with the same id before.
 * - `UnattributedError`: an error response without an id. The peer could not read a message of this side.
 * - `DuplicateRequest`: a request with the id of a request that has no answer yet. This side refused the new request. The first request
 *   continues.
 * - `Overloaded`: more requests or notifications at the same time than the limit allows. This side refused the request, or dropped the
 *   notification.
 * - `AmbiguousCancel`: a cancellation that matches several requests. No request was interrupted.
 * - `HandlerDied`: a bug on this side ended a handler. The peer received "Internal error". `subject` is what the handler serves, such as
 *   `tool "search"`.
 * - `FlawedAnswer`: the answer of a handler on this side breaks a rule. This side sent the answer, because the peer can read the answer.
 *   `reason` says what is wrong, and what was left out. `subject` is what the handler serves, such as `tool "search"`.
 * - `Unsubscribed`: the peer refused the subscription to `changes`, or did not acknowledge the subscription. `reason` says which of the two
 *   happened. `peer` is the name that the peer gives itself.
 * - `Dropped`: there were more diagnostics at the same time than the limit allows. This diagnostic replaces `count` dropped diagnostics.
 * - `Detached`: a handler that cannot be interrupted ran longer than the close timeout. The conversation no longer waits for the handler.
 *
 * @category models
 */
export type Diagnostic = Data.TaggedEnum<{
  Malformed: { readonly malformed: Message.Malformed }
  Mended: {
    readonly method: string
    readonly subject?: string
    readonly count: number
    readonly places: ReadonlyArray<{ readonly path: string; readonly message: string }>
  }
  UnknownArguments: {
    readonly subject: string
    readonly count: number
    readonly names: ReadonlyArray<{ readonly name: string; readonly nearest: string | undefined }>
  }
  Unchecked: { readonly subject: string; readonly reason: string }
  HiddenCharacters: { readonly subject: string; readonly count: number; readonly names: ReadonlyArray<string> }
  LookAlikes: {
    readonly subject: string
    readonly count: number
    readonly names: ReadonlyArray<ReadonlyArray<string>>
  }
  UnknownResponse: { readonly response: Message.Response; readonly late: boolean }
  UnattributedError: { readonly error: ErrorObject }
  DuplicateRequest: { readonly id: Message.RequestId; readonly method: string }
  Overloaded: { readonly method: string; readonly limit: number }
  AmbiguousCancel: { readonly id: Message.RequestId }
  HandlerDied: { readonly method: string; readonly cause: Cause.Cause<unknown>; readonly subject?: string }
  FlawedAnswer: { readonly method: string; readonly reason: string; readonly subject?: string }
  Unsubscribed: { readonly peer: string | undefined; readonly changes: ReadonlyArray<string>; readonly reason: string }
  Dropped: { readonly count: number }
  Detached: { readonly method: string }
}>

/** @category constants */
export const Diagnostic = Data.taggedEnum<Diagnostic>()

/**
 * Logs a diagnostic. `HandlerDied` is logged as an error, and the other diagnostics as a warning or at level `Debug`. Text of the peer is
 * shortened and written on one line.
 *
 * @category utils
 */
export const log: (diagnostic: Diagnostic) => Effect.Effect<void> = Diagnostic.$match({
  Malformed: ({ malformed }) => {
    const text = MessageText.beginningOf(malformed)
    return Effect.logWarning(
      `Malformed ${isOfAnyKind(malformed) ? "message" : malformed.kind}: ${malformed.message}` +
        (text === undefined ? "" : `; it begins with ${quoted(text)}`)
    )
  },
  Mended: ({ count, method, places, subject }) =>
    Effect.logWarning(
      `Mended ${count === 1 ? "1 place" : `${count} places`} of a message of ${quoted(method)}` +
        `${subject === undefined ? "" : ` for ${shown(subject)}`}: ` +
        places.map(({ message, path }) => `${shown(path)} ${shown(message)}`).join("; ")
    ),
  UnknownArguments: ({ count, names, subject }) =>
    Effect.logWarning(
      `${count === 1 ? "1 unknown argument" : `${count} unknown arguments`} for ${shown(subject)}: ` +
        names.map(({ name, nearest }) => shown(nearest === undefined ? name : `${name} (perhaps ${nearest})`)).join(
          "; "
        )
    ),
  Unchecked: ({ reason, subject }) =>
    Effect.logWarning(`${shown(subject)} was accepted without the usual check: ${shown(reason)}`),
  HiddenCharacters: ({ count, names, subject }) =>
    Effect.logWarning(
      `Left out characters that people do not see, in ${count === 1 ? "1 entry" : `${count} entries`} of ${
        shown(subject)
      }: ${listed(count, names.map((name) => quoted(name)))}`
    ),
  LookAlikes: ({ count, names, subject }) =>
    Effect.logWarning(
      `Names of ${shown(subject)} look alike, or mix scripts: ${
        listed(count, names.map((group) => group.map((name) => quoted(name)).join(" and ")))
      }`
    ),
  UnknownResponse: ({ late, response }) =>
    Effect.logDebug(`${late ? "Late" : "Unknown"} response: id ${idOf(response.id)}`),
  UnattributedError: ({ error }) =>
    Effect.logWarning(`The peer sent an error without an id: ${shown(error.message)} (${error.code})`),
  DuplicateRequest: ({ id, method }) => Effect.logDebug(`Refused ${quoted(method)}: id ${idOf(id)} is in flight`),
  Overloaded: ({ limit, method }) => Effect.logWarning(`Refused ${quoted(method)}: ${limit} are in flight`),
  AmbiguousCancel: ({ id }) => Effect.logDebug(`Ignored a cancel that matches several requests: ${idOf(id)}`),
  HandlerDied: ({ cause, method, subject }) =>
    Effect.logError(`The handler of ${handled(method, subject)} died`, cause),
  FlawedAnswer: ({ method, reason, subject }) =>
    Effect.logWarning(
      `The handler of ${handled(method, subject)} returned an answer that breaks a rule: ${shown(reason, 2000)}`
    ),
  Unsubscribed: ({ changes, peer, reason }) =>
    Effect.logWarning(
      `The peer${peer === undefined ? "" : ` ${quoted(peer)}`} does not announce changes (${
        shown(changes.join(", "))
      }): ${shown(reason)}`
    ),
  Dropped: ({ count }) => Effect.logWarning(`${count} more diagnostics of this conversation are not reported`),
  Detached: ({ method }) => Effect.logWarning(`The handler of ${quoted(method)} did not stop in time and still runs`)
})

/**
 * Makes a function that logs diagnostics like `log` but not every diagnostic that a peer causes. Of each kind, the function logs the first
 * eight in a minute, and then the 16th, the 32nd, and so on, with the number as the annotation `count`. The function logs every diagnostic
 * that this side causes.
 *
 * @category constructors
 */
export const logger = (): (diagnostic: Diagnostic) => Effect.Effect<void> => {
  const kinds = new Map<Diagnostic["_tag"], { readonly since: number; count: number }>()
  return (diagnostic) =>
    OWN.has(diagnostic._tag) ? log(diagnostic) : Effect.flatMap(Clock.currentTimeMillis, (now) => {
      let kind = kinds.get(diagnostic._tag)
      if (kind === undefined || now - kind.since >= MINUTE) kinds.set(diagnostic._tag, kind = { since: now, count: 0 })
      const count = ++kind.count
      if (count <= EACH) return log(diagnostic)
      const isPowerOfTwo = (count & (count - 1)) === 0
      return isPowerOfTwo ? Effect.annotateLogs(log(diagnostic), "count", count) : Effect.void
    })
}

/** How many diagnostics of one kind the logger logs in a minute before it leaves some out. */
const EACH = 8
const MINUTE = 60_000

/** The kinds that this side causes. */
const OWN: ReadonlySet<Diagnostic["_tag"]> = new Set(["HandlerDied", "FlawedAnswer", "Detached"])

const idOf = (id: Message.RequestId | null | undefined): string => shown(JsonText.stringify(id) ?? "undefined")

/** Joins `texts` and says how many texts are missing. `texts` are the first of `count` texts. */
const listed = (count: number, texts: ReadonlyArray<string>): string =>
  texts.join("; ") + (count > texts.length ? `; and ${count - texts.length} more` : "")

const handled = (method: string, subject: string | undefined): string =>
  subject === undefined ? quoted(method) : shown(subject)

/** Whether the kind of the input is not known. This includes text that is not JSON, which may be a line that a program printed. */
const isOfAnyKind = ({ code, kind }: Message.Malformed): boolean => kind === "unknown" || code === PARSE_ERROR

/** How many characters of a text are logged by default. */
const MAX_TEXT = 200

/**
 * Prepares a text that the peer may have chosen for the log: removes secrets, and cuts the text to `max` characters. A space replaces each
 * character that ends a line or controls a terminal.
 */
const shown = (text: string, max: number = MAX_TEXT): string => {
  const clean = Redaction.text(text.slice(0, 2 * max))
  const line = clean.slice(0, max).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
  return text.length > 2 * max || clean.length > max ? `${line}…` : line
}

/** Returns the text of `shown` in double quotes. */
const quoted = (text: string): string => `"${shown(text)}"`
