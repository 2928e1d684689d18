/**
 * Where the pages of a list begin and end, and their cursors. Applications use `Page`, and `features/PagedList` cuts the lists of a
 * server.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { InvalidParams } from "../../protocol/McpError.js"

/** The default number of entries on a page. It is high, because many clients read the first page only. */
export const SIZE = 1000

/** The index at which the page after `cursor` begins. */
export const start = (
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: unknown]>,
  cursor: string | undefined
): Either.Either<number, InvalidParams> => {
  // No page of this module ends with an empty cursor, so a client that sends an empty cursor begins the list.
  if (cursor === undefined || cursor === "") return Either.right(0)
  const key = keyOf(list, cursor)
  return key === undefined
    ? Either.left(new InvalidParams({ message: "Invalid params: the cursor does not belong to this list" }))
    : Either.right(firstAfter(entries, key))
}

/** The page that begins at an index. */
export const at = <A>(
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: A]>,
  index: number,
  size: number
): { readonly items: ReadonlyArray<A>; readonly nextCursor: string | undefined } => {
  const end = index + atLeastOne(size)
  const page = entries.slice(index, end)
  return {
    items: page.map(([, item]) => item),
    nextCursor: end < entries.length ? Encoding.encodeBase64Url(`${list}:${page[page.length - 1]![0]}`) : undefined
  }
}

/** A page size as an integer of at least 1, so that a client always gets to the end. */
export const atLeastOne = (size: number): number => size >= 1 ? Math.floor(size) : 1

const firstAfter = (entries: ReadonlyArray<readonly [key: string, item: unknown]>, key: string): number => {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries[middle]![0] > key) high = middle
    else low = middle + 1
  }
  return low
}

const keyOf = (list: string, cursor: string): string | undefined => {
  const decoded = Either.getOrUndefined(Encoding.decodeBase64UrlString(cursor))
  return decoded?.startsWith(`${list}:`) === true ? decoded.slice(list.length + 1) : undefined
}
