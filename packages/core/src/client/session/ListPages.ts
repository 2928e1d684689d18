/**
 * Reads all pages of a list as one stream, for `Verbs`, `ServerTools`, `group/ServerLists`, `legacy/Connect` (the list of tasks), and
 * `SkillsClient` of package `extensions`. The stream fails with `ListCut` when the list has too many pages, or when all pages together have
 * too many values or characters (`ListBudget` counts them). Some servers send the same cursor with each page. Therefore, when the server
 * sends a cursor a second time, the list ends there, and a diagnostic reports this.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as StreamArrays from "../../kit/StreamArrays.js"
import type { ClientError } from "../ClientError.js"
import * as ListBudget from "./ListBudget.js"

/** How many pages of one list are read. */
export const MAX_PAGES = 64

/** How many pages were read. */
export interface Counter {
  pages: number
}

const counter = EffectInternals.local<Counter | undefined>(
  "@effect-mcp/core/client/session/ListPages/counter",
  undefined
)

/**
 * Runs an effect, and counts the pages that its streams read. Also counts the pages without entries, of which the readers of a stream learn
 * nothing in version 4 of Effect.
 */
export const counted = <A, E, R>(effect: Effect.Effect<A, E, R>, count: Counter): Effect.Effect<A, E, R> =>
  EffectInternals.withValue(effect, counter, count)

/** The error of a list whose rest is not read because it is too large. */
export class ListCut extends TransportError {}

/**
 * Streams the entries of all pages. A page is requested when the reader wants its entries. When the list exceeds the limits or has more
 * than `MAX_PAGES` pages, the stream gives the entries up to the limit, then fails with `ListCut`. `report` gets a diagnostic when the list
 * ends at a cursor that the server has sent before.
 */
export const stream = <P extends { readonly nextCursor?: string | undefined }, A>(
  method: string,
  page: (cursor: string | undefined) => Effect.Effect<P, ClientError>,
  entries: (page: P) => ReadonlyArray<A>,
  report: (diagnostic: Diagnostic) => Effect.Effect<void>
): Stream.Stream<A, ClientError> =>
  Stream.suspend(() => {
    const seen = new Set<string | undefined>()
    const budget = new ListBudget.ListBudget()
    let count = 0
    const tooLarge = () =>
      cut(
        method,
        `all entries may have ${ListBudget.MAX_VALUES} values and ${ListBudget.MAX_CHARACTERS} characters together, so the entries after the first ` +
          `${count} are left out`
      )
    return StreamArrays.paginate(undefined as string | undefined | ListCut, (cursor) => {
      if (cursor instanceof ListCut) return Effect.fail(cursor)
      if (seen.size === MAX_PAGES) return Effect.fail(cut(method, `there are more than ${MAX_PAGES} pages`))
      seen.add(cursor)
      return Effect.flatMap(Effect.zip(page(cursor), EffectInternals.valueOf(counter)), ([page, counter]) => {
        if (counter !== undefined) counter.pages++
        const all = entries(page)
        const end = all.findIndex((entry) => !budget.fits(entry))
        const kept = end === -1 ? all : all.slice(0, end)
        count += kept.length
        const next = page.nextCursor ?? undefined
        const isOver = next === undefined || seen.has(next)
        const read = [
          kept,
          end !== -1 ? Option.some(tooLarge()) : isOver ? Option.none() : Option.some(next)
        ] as const
        return end === -1 && isOver && next !== undefined
          ? Effect.as(report(again(method)), read)
          : Effect.succeed(read)
      })
    })
  })

const again = (method: string): Diagnostic =>
  Diagnostic.Mended({
    method,
    count: 1,
    places: [{
      path: "nextCursor",
      message: "is a cursor that the server has sent before; the client ends the list here"
    }]
  })

const cut = (method: string, why: string): ListCut => {
  const wayOut = onePage.get(method)
  const advice = wayOut === undefined ? "" : `. \`${wayOut}\` reads one page at a time`
  return new ListCut({ reason: "Decode", message: `The result of "${method}" is not valid: ${why}${advice}` })
}

/** The function of a session that reads one page of a list, by method. */
const onePage: ReadonlyMap<string, string> = new Map([
  ["tools/list", "listTools"],
  ["prompts/list", "listPrompts"],
  ["resources/list", "listResources"],
  ["resources/templates/list", "listResourceTemplates"]
])
