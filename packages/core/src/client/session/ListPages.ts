/**
 * Reads a list that comes in pages as one stream. The stream fails with `ListCut` when the list does not end or is too large: after too many
 * pages, when the pages together hold too many values or characters, and when the server sends a cursor a second time.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { ClientError } from "../ClientError.js"
import * as ListBudget from "./ListBudget.js"

/**
 * How many pages of one list are read.
 */
export const MAX_PAGES = 64

/**
 * The rest of a list is not read.
 */
export class ListCut extends TransportError {}

/**
 * The entries of all pages; a page is requested when the reader wants its entries. Fails with `ListCut` after the entries that are
 * within the limits, after `MAX_PAGES` pages, and at a cursor that was there before.
 */
export const stream = <P extends { readonly nextCursor?: string | undefined }, A>(
  method: string,
  page: (cursor: string | undefined) => Effect.Effect<P, ClientError>,
  entries: (page: P) => ReadonlyArray<A>
): Stream.Stream<A, ClientError> =>
  Stream.suspend(() => {
    const seen = new Set<string | undefined>()
    const budget = new ListBudget.ListBudget()
    let count = 0
    const tooLarge = () =>
      cut(
        method,
        `all entries may have ${ListBudget.MAX_VALUES} values and ${ListBudget.MAX_CHARACTERS} characters together, so those after the first ` +
          `${count} are left out`
      )
    return Stream.paginateChunkEffect(undefined as string | undefined | ListCut, (cursor) => {
      if (cursor instanceof ListCut) return Effect.fail(cursor)
      if (seen.has(cursor)) return Effect.fail(cut(method, "a cursor was given out twice"))
      if (seen.size === MAX_PAGES) return Effect.fail(cut(method, `there are more than ${MAX_PAGES} pages`))
      seen.add(cursor)
      return Effect.map(page(cursor), (page) => {
        const all = entries(page)
        const end = all.findIndex((entry) => !budget.fits(entry))
        const kept = end === -1 ? all : all.slice(0, end)
        count += kept.length
        return [
          EffectInternals.chunk(kept),
          end === -1
            ? Option.map(Option.fromNullable(page.nextCursor), (next): string | undefined => next)
            : Option.some(tooLarge())
        ]
      })
    })
  })

const cut = (method: string, why: string): ListCut =>
  new ListCut({ reason: "Decode", message: `The result of "${method}" is not valid: ${why}` })
