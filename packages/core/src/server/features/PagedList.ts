/**
 * Makes pages of an `EntryTable`, which are the results of the list methods of `Tools`, `Prompts` and `Resources`. This module caches a
 * page until an entry is added or removed. The cache contains only pages that begin where another page ends, so a client cannot fill the
 * cache with invented cursors. An entry that is too long for a page is not in the list, and the log says this. Clients can still use such
 * an entry.
 *
 * `ListPage` and `runtime/Paging` decide where a page begins and ends.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { quoted } from "../../definition/text/Quoted.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { InvalidParams } from "../../protocol/McpError.js"
import type { Hints } from "../CacheHints.js"
import type { Entries, Registered } from "../Registry.js"
import * as MethodHints from "../runtime/MethodHints.js"
import * as Paging from "../runtime/Paging.js"
import * as Route from "../runtime/Route.js"
import * as ListPage from "./ListPage.js"
import * as Surroundings from "./Surroundings.js"

/** Gives the page after a cursor, as the result of a method. The page is the same object until an entry changes. */
export type PagedList<R> = (cursor: string | undefined) => Either.Either<R, InvalidParams>

interface Options<A, B, R> {
  /** The name of the list. Every cursor of this list begins with this name. */
  readonly list: string
  readonly entries: Pick<Entries<A>, "revision" | typeof Symbol.iterator>
  readonly pageSize: number
  readonly advertised: (entry: A) => B
  readonly result: (items: ReadonlyArray<B>) => R
}

interface ServedOptions<A, B, R> extends Options<A, B, R> {
  /** The cache hints of the method, from the server's option `cache`. */
  readonly hints: Hints
}

/**
 * Serves a list: the result contains the entries that are visible to the request. Caches a list only when all requests get the same list.
 */
export const serve = <A extends Registered, B, R extends object>(
  options: ServedOptions<A, B, R>
): (cursor: string | undefined) => Route.Served => {
  const { entries } = options
  const reports = reporter(options.list)
  const list = make(options, reports.see)
  let revision = -1
  let isFiltered = false
  let listHints: ListHints = noHints
  return (cursor) => {
    if (revision !== entries.revision) {
      revision = entries.revision
      isFiltered = [...entries].some(([, entry]) => Surroundings.mayBeHidden(entry))
      listHints = hintsOf([...entries].map(([, entry]) => entry), options.hints)
    }
    return isFiltered
      ? {
        ...Route.served(
          Effect.flatMap(
            Surroundings.visible(entries),
            (visible) =>
              reports.after(
                EffectInternals.fromEither(
                  page(
                    options,
                    listed(visible).map(([key, entry]) => [key, options.advertised(entry)]),
                    cursor,
                    reports.see
                  )
                )
              )
          )
        ),
        hints: { ...listHints(), ...MethodHints.onlyForSender }
      }
      : { ...Route.served(reports.after(EffectInternals.fromEither(list(cursor)))), hints: listHints() }
  }
}

/** Gives the current cache hints of a list; `undefined` when no entry has its own hints. */
type ListHints = () => Hints | undefined

const noHints: ListHints = () => undefined

/** Makes the function that gives the cache hints of a list of these entries. `own` are the hints of the list method. */
export const hintsOf = (entries: ReadonlyArray<Registered>, own: Hints): ListHints => {
  const given = new Set(entries.filter(({ isListed }) => isListed !== false).map(({ listHints }) => listHints))
  return [...given].every((one) => one === undefined)
    ? noHints
    : () => MethodHints.ofList(own, [...given].map((one) => one?.()))
}

const listed = <A>(entries: Iterable<readonly [key: string, entry: A]>): ReadonlyArray<readonly [string, A]> =>
  [...entries].filter(([, entry]) => (entry as Partial<Registered>).isListed !== false)

interface Reporter {
  readonly see: (key: string) => void
  /** Gives the page. Before that, logs the entries that were left out since the last log message. */
  readonly after: <A, E>(page: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/** Makes an object that logs the entries that are left out of a list, each entry once. */
export const reporter = (list: string): Reporter => {
  const known = new Set<string>()
  let news: Array<string> = []
  return {
    see: (key: string): void => {
      if (known.size === MAX_REPORTED || known.has(key)) return
      known.add(key)
      news.push(key)
    },
    after: <A, E>(page: Effect.Effect<A, E>): Effect.Effect<A, E> => {
      if (news.length === 0) return page
      const names = news.map(quoted).join(", ")
      news = []
      return Effect.zipRight(
        Effect.logWarning(
          `The list of ${list} leaves out ${names}: a page has at most ${Paging.MAX_CHARACTERS} characters. Shorten the description or the schema`
        ),
        page
      )
    }
  }
}

const MAX_REPORTED = 100

/** Gives the items that are not too long for a page. Calls `leaveOut` for every other item. */
const fitting = <A>(
  items: ReadonlyArray<readonly [string, A]>,
  leaveOut: (key: string) => void
): Array<readonly [string, A]> =>
  items.filter(([key, item]) => {
    const isTooLong = Paging.isTooLong(item)
    if (isTooLong) leaveOut(key)
    return !isTooLong
  })

/** Makes a page of items in any order, without a cache. */
export const page = <B, R extends object>(
  { list, pageSize, result }: Pick<Options<never, B, R>, "list" | "pageSize" | "result">,
  items: Iterable<readonly [key: string, item: B]>,
  cursor: string | undefined,
  leaveOut: (key: string) => void = () => {}
): Either.Either<R & { readonly nextCursor?: string }, InvalidParams> =>
  Either.map(
    ListPage.make(list, fitting(ListPage.sorted(items), leaveOut), cursor, pageSize),
    (page) => resultOf(page, result)
  )

const resultOf = <B, R extends object>(
  { items, nextCursor }: ListPage.Page<B>,
  result: (items: ReadonlyArray<B>) => R
): R & { readonly nextCursor?: string } => ({
  ...result(items),
  ...(nextCursor === undefined ? undefined : { nextCursor })
})

export const make = <A, B, R extends object>(
  options: Options<A, B, R>,
  leaveOut: (key: string) => void = () => {}
): PagedList<R & { readonly nextCursor?: string }> => {
  const { advertised, entries, list, result } = options
  const size = Paging.atLeastOne(options.pageSize)
  const starts = new Set<number>()
  const pages = new Map<number, R & { readonly nextCursor?: string }>()
  let sorted: Array<readonly [string, B]> = []
  let revision = -1
  return (cursor) => {
    if (revision !== entries.revision) {
      revision = entries.revision
      pages.clear()
      starts.clear()
      sorted = fitting(
        ListPage.sorted(listed(entries)).map(([key, entry]) => [key, advertised(entry)] as const),
        leaveOut
      )
      for (let at = 0; at < sorted.length; at = Paging.endOf(sorted, at, size)) starts.add(at)
    }
    return Either.map(Paging.start(list, sorted, cursor), (index) => {
      const known = pages.get(index)
      if (known !== undefined) return known
      const page = resultOf(Paging.at(list, sorted, index, size), result)
      if (starts.has(index)) pages.set(index, page)
      return page
    })
  }
}
