/**
 * Text by which questions and requests are recognised in the next round: the same value gives the same text, whatever the
 * order of its members.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"

/** JSON of the value, with every object as the list of its names and values, in the order of the names. */
export const canonical = (value: unknown): string => JSON.stringify(ordered(value))

// A list, because adding many members to an object takes several times as long as sorting their names.
const ordered = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const object = value as JsonObject
  const members: Array<unknown> = []
  for (const name of Object.keys(object).sort()) {
    if (object[name] !== undefined) members.push(name, ordered(object[name]))
  }
  return { members }
}

/** 53 bits of a text as letters and digits. It tells questions apart; it protects nothing. */
export const digest = (text: string): string => {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36)
}
