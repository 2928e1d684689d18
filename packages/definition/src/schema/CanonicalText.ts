/**
 * The text of a JSON value that all equal values have, whatever the order of their members. `enum`, `const` and
 * `uniqueItems` compare values by it: one text for each value costs less than a comparison of each pair.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import { isObject } from "./SchemaCheck.js"
import type { Budget } from "./WorkBudget.js"

/** Takes from the budget for each value and for its text. */
export const of = (value: unknown, budget: Budget): string => {
  budget.spend(4)
  if (Array.isArray(value)) return `[${value.map((item) => of(item, budget)).join()}]`
  if (isObject(value)) {
    const members = Object.keys(value).sort().map((key) => `${Json.stringify(key)}:${of(value[key], budget)}`)
    return `{${members.join()}}`
  }
  // JSON would write `null` for Infinity, which is what a parser makes of 1e999.
  const text = typeof value === "number" ? String(value) : String(Json.stringify(value))
  budget.spend(text.length / 8)
  return text
}
