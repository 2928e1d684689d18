/**
 * The caching hints that an upstream of 2026-07-28 sends with its lists. `Link` notes the hints of each page, `ListFollower` takes the hints of
 * the lists that it has read, and `Mirror` gives them to the lists of the proxy.
 */
import * as CacheHints from "@effect-mcp/core/CacheHints"

/** The hints of lists, by the methods that read the lists. Lists of an upstream up to 2025-11-25 have no hints. */
export type ListedHints = ReadonlyMap<string, CacheHints.Hints>

/** Collects the hints of lists while the lists are read. */
export class HintsRead {
  private hints = new Map<string, CacheHints.Hints>()

  /** A page has arrived. A list has the strictest hints of its pages. */
  readonly see = (method: string, hints: CacheHints.Hints): void => {
    const before = this.hints.get(method)
    this.hints.set(method, before === undefined ? hints : CacheHints.least([before, hints]))
  }

  /** The hints of the lists that were read since this was called last. */
  take(): ListedHints {
    const { hints } = this
    this.hints = new Map()
    return hints
  }
}

/** The strictest hints that sessions with one upstream have for one list; `undefined` when no session has hints. */
export const least = (all: Iterable<ListedHints>, method: string): CacheHints.Hints | undefined => {
  const found = [...all].flatMap((hints) => hints.get(method) ?? [])
  return found.length === 0 ? undefined : CacheHints.least(found)
}
