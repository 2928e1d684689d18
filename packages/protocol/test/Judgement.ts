/**
 * Whether we and the official schemas agree on a message that may be broken. One vocabulary serves all revisions, so two
 * things are right though the schema of one revision says otherwise: to take what another revision allows, and to refuse
 * what another revision refuses. Everything else that differs is listed here, with its reason.
 */
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Meta from "@effect-mcp/protocol/Meta"
import * as Version from "@effect-mcp/protocol/Version"
import * as Either from "effect/Either"
import * as Issue from "../src/schema/Issue.js"
import type { Mutant } from "./Mutants.js"
import { isPolluted, touches } from "./Mutants.js"
import type { Saying } from "./Sayings.js"
import * as Sayings from "./Sayings.js"

export type Verdict = "taken" | "refused"

const reading = { formats: false }

const envelope = { [Meta.keys.protocolVersion]: "2026-07-28", [Meta.keys.clientCapabilities]: {} }
const hints = { resultType: "complete", ttlMs: 0, cacheScope: "public" }

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null && !Array.isArray(u)

// What a modern message needs more, so that only the rest of it is judged.
const completed = ({ part }: Saying, value: unknown): unknown => {
  if (!isObject(value)) return value
  if (part === "result") return { ...hints, ...value }
  return value._meta === undefined || isObject(value._meta)
    ? { ...value, _meta: { ...value._meta, ...envelope } }
    : value
}

/** What another revision thinks, of those that have the same part of the same method. */
const elsewhere = (saying: Saying, value: unknown): ReadonlyArray<boolean> =>
  Sayings.all.filter(({ method, part, version }) =>
    method.name === saying.method.name && part === saying.part && version !== saying.version
  ).map((other) =>
    other.judge(Version.isModern(other.version) ? completed(other, value) : value, other.version, reading) === undefined
  )

/** What a modern client makes do without, or bears: hints of caching, the kind of a result. */
const isBorne = (saying: Saying, { path }: Mutant): boolean =>
  saying.part === "result" && ["ttlMs", "cacheScope", "resultType"].includes(String(path[0]))

/** What we refuse though every schema takes it. */
const isOurs = ({ value }: Mutant, places: ReadonlyArray<Issue.Place>): boolean =>
  places.some(({ path }) =>
    // An id that JavaScript cannot hold could not be echoed.
    /(?:^|\.)(?:requestId|progressToken|io\.modelcontextprotocol\/subscriptionId)$/.test(path) ||
    // Legacy peers carry extensions where no schema looks, and `_meta` where a schema forgot it.
    /^(?:capabilities\.extensions(?:\..*)?|_meta)$/.test(path) ||
    // A kind that nobody agreed on is no answer.
    (path === "resultType" && isObject(value) && typeof value.resultType === "string")
  )

/** Our verdict; throws when it is wrong, or does not say where. */
export const of = (saying: Saying, mutant: Mutant): Verdict => {
  const ours = saying.decode(mutant.value)
  const theirs = saying.judge(mutant.value, saying.version, reading)
  const fail = (what: string): never => {
    throw new Error(`${saying.title}: ${mutant.kind} at "${mutant.path.join(".")}": ${what}`)
  }
  if (Either.isRight(ours)) {
    if (ours.right !== mutant.value) return fail("is copied")
    if (
      mutant.kind === "prototype" &&
      [saying.version, ...saying.older].some((version) => isPolluted(saying.told(mutant.value, version)))
    ) {
      return fail("becomes a prototype")
    }
    if (theirs === undefined || isBorne(saying, mutant)) return "taken"
    const strict = Version.isModern(saying.version) && saying.part === "params"
    return !strict && elsewhere(saying, mutant.value).includes(true) ? "taken" : fail(`is taken, but ${theirs}`)
  }
  const { issue } = ours.left
  const places = Issue.places(issue)
  const { code } = McpError.toWire(McpError.ofIssue(issue), "modern")
  if (code !== -32602) return fail(`is refused with ${code}`)
  if (!places.some(({ path }) => touches(path, mutant.path))) return fail(`is refused at ${JSON.stringify(places)}`)
  if (theirs !== undefined || isOurs(mutant, places) || elsewhere(saying, mutant.value).includes(false)) {
    return "refused"
  }
  return fail(`is refused: ${JSON.stringify(places)}`)
}
