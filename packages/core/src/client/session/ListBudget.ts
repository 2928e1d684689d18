/**
 * Limits how much a client stores of the lists of a server, for `ListPages` and `ServerTools`. The class counts the values and the
 * characters of entries. Its two fields only grow. They are mutable, so that counting a value makes no object.
 */

/** How many values the entries of one list may have together, on all pages. */
export const MAX_VALUES = 500_000

/** How many characters the entries of one list may have together, on all pages. */
export const MAX_CHARACTERS = 16 * 1024 * 1024

export class ListBudget {
  private values = 0
  private characters = 0

  /** Counts an entry. Returns whether the list is still within its limits. */
  fits(entry: unknown): boolean {
    const left = [entry]
    while (left.length > 0) {
      const value = left.pop()
      if (++this.values > MAX_VALUES) return false
      if (typeof value === "string") this.characters += value.length
      else if (Array.isArray(value)) { for (const one of value) left.push(one) }
      else if (typeof value === "object" && value !== null) {
        for (const [key, one] of Object.entries(value)) {
          this.characters += key.length
          left.push(one)
        }
      }
      if (this.characters > MAX_CHARACTERS) return false
    }
    return true
  }
}
