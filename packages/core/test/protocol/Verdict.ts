/**
 * Whether this package and the official schemas agree on a message that may be broken. One vocabulary serves all
 * revisions, so two differences from the schema of one revision are right: to accept what another revision allows, and
 * to refuse what another revision refuses. All other differences are listed here, with their reason.
 */
import * as Issue from "@effect-mcp/core/protocol/Issue"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Either from "effect/Either"
import type { MessagePart } from "./MessageParts.js"
import * as MessageParts from "./MessageParts.js"
import { isPolluted, type Mutant, touches } from "./Mutants.js"

export type Verdict = "accepted" | "refused"

const reading = { formats: false }

const envelope = { [Meta.keys.protocolVersion]: "2026-07-28", [Meta.keys.clientCapabilities]: {} }
const hints = { resultType: "complete", ttlMs: 0, cacheScope: "public" }

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null && !Array.isArray(u)

// Adds what a modern message needs, so that only the rest is judged.
const completed = ({ part }: MessagePart, value: unknown): unknown => {
  if (!isObject(value)) return value
  if (part === "result") return { ...hints, ...value }
  return value._meta === undefined || isObject(value._meta)
    ? { ...value, _meta: { ...value._meta, ...envelope } }
    : value
}

/** The verdicts of the other revisions that have this part of this method. */
const otherRevisions = (messagePart: MessagePart, value: unknown): ReadonlyArray<boolean> =>
  MessageParts.all.filter(({ method, part, version }) =>
    method.name === messagePart.method.name && part === messagePart.part && version !== messagePart.version
  ).map((other) =>
    other.judge(Version.isModern(other.version) ? completed(other, value) : value, other.version, reading) === undefined
  )

/** A modern client accepts results without valid caching hints or type. */
const isTolerated = (messagePart: MessagePart, { path }: Mutant): boolean =>
  messagePart.part === "result" && ["ttlMs", "cacheScope", "resultType"].includes(String(path[0]))

/** What this package refuses and every official schema accepts. */
const isRefusedByDesign = ({ value }: Mutant, places: ReadonlyArray<Issue.Place>): boolean =>
  places.some(({ path }) =>
    // An id that JavaScript cannot hold could not be echoed.
    /(?:^|\.)(?:requestId|progressToken|io\.modelcontextprotocol\/subscriptionId)$/.test(path) ||
    // Legacy peers carry extensions where no schema looks, and `_meta` where a schema forgot it.
    /^(?:capabilities\.extensions(?:\..*)?|_meta)$/.test(path) ||
    // A result of an unknown type is not valid.
    (path === "resultType" && isObject(value) && typeof value.resultType === "string")
  )

/** A question without its mode is a form, and names what a form lacks. */
const isReadAsForm = ({ path }: Mutant, places: ReadonlyArray<Issue.Place>): boolean =>
  path.join(".") === "mode" && places.some(({ path }) => path === "requestedSchema")

/** The verdict of this package; throws when it is wrong, or when a refusal does not name the place. */
export const of = (messagePart: MessagePart, mutant: Mutant): Verdict => {
  const ours = messagePart.decode(mutant.value)
  const theirs = messagePart.judge(mutant.value, messagePart.version, reading)
  const fail = (what: string): never => {
    throw new Error(`${messagePart.title}: ${mutant.kind} at "${mutant.path.join(".")}": ${what}`)
  }
  if (Either.isRight(ours)) {
    if (ours.right !== mutant.value) return fail("is copied")
    if (
      mutant.kind === "prototype" &&
      [messagePart.version, ...messagePart.older].some((version) =>
        isPolluted(messagePart.narrow(mutant.value, version))
      )
    ) {
      return fail("becomes a prototype")
    }
    if (theirs === undefined || isTolerated(messagePart, mutant)) return "accepted"
    const strict = Version.isModern(messagePart.version) && messagePart.part === "params"
    return !strict && otherRevisions(messagePart, mutant.value).includes(true)
      ? "accepted"
      : fail(`is accepted, but ${theirs}`)
  }
  const { issue } = ours.left
  const places = Issue.places(issue)
  const { code } = McpError.toWire(McpError.ofIssue(issue), "modern")
  if (code !== -32602) return fail(`is refused with ${code}`)
  if (!places.some(({ path }) => touches(path, mutant.path)) && !isReadAsForm(mutant, places)) {
    return fail(`is refused at ${JSON.stringify(places)}`)
  }
  if (
    theirs !== undefined || isRefusedByDesign(mutant, places) ||
    otherRevisions(messagePart, mutant.value).includes(false)
  ) {
    return "refused"
  }
  return fail(`is refused: ${JSON.stringify(places)}`)
}
