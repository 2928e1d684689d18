/**
 * The pages of an entry table, as results of a list method. A page is made once and holds until an entry is added or
 * removed. Only pages that begin at a multiple of the page size are cached, so a client cannot fill the cache with
 * cursors of its own.
 *
 * `Page` decides where a page begins and ends.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { InvalidParams } from "../../protocol/McpError.js"
import type { Entries, Registered } from "../Registry.js"
import * as MethodHints from "../runtime/MethodHints.js"
import * as Paging from "../runtime/Paging.js"
import * as Route from "../runtime/Route.js"
import * as ListPage from "./ListPage.js"
import * as Surroundings from "./Surroundings.js"

/** The page after a cursor, as the result of a method: the same object as long as no entry changes. */
export type PagedList<R> = (cursor: string | undefined) => Either.Either<R, InvalidParams>

interface Options<A, B, R> {
  /** The name that cursors of this list begin with. */
  readonly list: string
  readonly entries: Pick<Entries<A>, "revision" | typeof Symbol.iterator>
  readonly pageSize: number
  readonly advertised: (entry: A) => B
  readonly result: (items: ReadonlyArray<B>) => R
}

/** Serves the list: to each request the entries that it sees. Only a list that is the same for all requests is cached. */
export const serve = <A extends Registered, B, R extends object>(
  options: Options<A, B, R>
): (cursor: string | undefined) => Route.Served => {
  const { entries } = options
  const list = make(options)
  let revision = -1
  let isFiltered = false
  return (cursor) => {
    if (revision !== entries.revision) {
      revision = entries.revision
      isFiltered = [...entries].some(([, entry]) => Surroundings.mayBeHidden(entry))
    }
    return isFiltered
      ? {
        ...Route.served(
          Effect.flatMap(
            Surroundings.visible(entries),
            (visible) => page(options, listed(visible).map(([key, entry]) => [key, options.advertised(entry)]), cursor)
          )
        ),
        hints: MethodHints.onlyForSender
      }
      : Route.served(list(cursor))
  }
}

const listed = <A>(entries: Iterable<readonly [key: string, entry: A]>): ReadonlyArray<readonly [string, A]> =>
  [...entries].filter(([, entry]) => (entry as Partial<Registered>).isListed !== false)

/** A page of items that are not cached, in any order. */
export const page = <B, R extends object>(
  { list, pageSize, result }: Pick<Options<never, B, R>, "list" | "pageSize" | "result">,
  items: Iterable<readonly [key: string, item: B]>,
  cursor: string | undefined
): Either.Either<R & { readonly nextCursor?: string }, InvalidParams> =>
  Either.map(ListPage.make(list, ListPage.sorted(items), cursor, pageSize), (page) => resultOf(page, result))

const resultOf = <B, R extends object>(
  { items, nextCursor }: ListPage.Page<B>,
  result: (items: ReadonlyArray<B>) => R
): R & { readonly nextCursor?: string } => ({
  ...result(items),
  ...(nextCursor === undefined ? undefined : { nextCursor })
})

export const make = <A, B, R extends object>(
  options: Options<A, B, R>
): PagedList<R & { readonly nextCursor?: string }> => {
  const { advertised, entries, list, result } = options
  const size = Paging.atLeastOne(options.pageSize)
  const pages = new Map<number, R & { readonly nextCursor?: string }>()
  let sorted: Array<readonly [string, A]> = []
  let revision = -1
  return (cursor) => {
    if (revision !== entries.revision) {
      revision = entries.revision
      pages.clear()
      sorted = ListPage.sorted(listed(entries))
    }
    return Either.map(Paging.start(list, sorted, cursor), (index) => {
      const known = pages.get(index)
      if (known !== undefined) return known
      const { items, nextCursor } = Paging.at(list, sorted, index, size)
      const page = resultOf({ items: items.map(advertised), nextCursor }, result)
      if (index % size === 0) pages.set(index, page)
      return page
    })
  }
}
