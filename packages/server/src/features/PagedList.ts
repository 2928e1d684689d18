/**
 * The pages of an entry table, as results of a list method. A page is made once and holds until an entry is added or
 * removed. Only pages that begin at a multiple of the page size are cached, so a client cannot fill the cache with
 * cursors of its own.
 *
 * `Page` decides where a page begins and ends.
 */
import type { InvalidParams } from "@effect-mcp/protocol/McpError"
import * as Either from "effect/Either"
import type { Entries } from "../Registry.js"
import * as Page from "./Page.js"

/** The page after a cursor, as the result of a method: the same object as long as no entry changes. */
export type PagedList<R> = (cursor: string | undefined) => Either.Either<R, InvalidParams>

export const make = <A, B, R>(options: {
  /** The name that cursors of this list begin with. */
  readonly list: string
  readonly entries: Pick<Entries<A>, "revision" | typeof Symbol.iterator>
  readonly pageSize: number
  readonly advertised: (entry: A) => B
  readonly result: (items: ReadonlyArray<B>) => R
}): PagedList<R & { readonly nextCursor?: string }> => {
  const { advertised, entries, list, result } = options
  const size = Page.atLeastOne(options.pageSize)
  const pages = new Map<number, R & { readonly nextCursor?: string }>()
  let sorted: Array<readonly [string, A]> = []
  let revision = -1
  return (cursor) => {
    if (revision !== entries.revision) {
      revision = entries.revision
      pages.clear()
      sorted = Page.sorted(entries)
    }
    return Either.map(Page.start(list, sorted, cursor), (index) => {
      const known = pages.get(index)
      if (known !== undefined) return known
      const { items, nextCursor } = Page.at(list, sorted, index, size)
      const page = {
        ...result(items.map(advertised)),
        ...(nextCursor === undefined ? undefined : { nextCursor })
      }
      if (index % size === 0) pages.set(index, page)
      return page
    })
  }
}
