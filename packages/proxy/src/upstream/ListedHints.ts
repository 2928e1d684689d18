/**
 * Collects the caching hints that an upstream of revision 2026-07-28 sends with its lists of tools, prompts and resources. The session of a
 * `Link` adds the hints of each page. `ListFollower` takes the hints after it has read the lists. `Mirror` sends the strictest hints with
 * the lists that clients get.
 */
import * as CacheHints from "@effect-mcp/core/CacheHints"

/** The hints of each list, by the method that reads the list. An upstream of revision 2025-11-25 or earlier sends no hints. */
export type ListedHints = ReadonlyMap<string, CacheHints.Hints>

/** Collects the hints of lists while `ListFollower` reads the lists. */
export class HintsRead {
  private hints = new Map<string, CacheHints.Hints>()

  /** Adds the hints of a page. The hints of a list are the strictest hints of its pages. */
  readonly see = (method: string, hints: CacheHints.Hints): void => {
    const before = this.hints.get(method)
    this.hints.set(method, before === undefined ? hints : CacheHints.least([before, hints]))
  }

  /** Returns the hints of all lists that were read since the last call, and removes these hints. */
  take(): ListedHints {
    const { hints } = this
    this.hints = new Map()
    return hints
  }
}

/**
 * Returns the strictest hints for one list. `all` has the hints from each session with the upstream. Returns `undefined` when no session
 * has hints for the list.
 */
export const least = (all: Iterable<ListedHints>, method: string): CacheHints.Hints | undefined => {
  const found = [...all].flatMap((hints) => hints.get(method) ?? [])
  return found.length === 0 ? undefined : CacheHints.least(found)
}
