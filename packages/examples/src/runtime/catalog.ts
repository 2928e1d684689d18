/**
 * The document that the tools are made from: the operations of a warehouse, as another system would describe them. Each has a
 * JSON Schema of its arguments. Here it has twenty departments with ten operations each.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"

export interface Operation {
  readonly name: string
  readonly description: string
  readonly department: string
  /** Whether only managers may see it. */
  readonly confidential: boolean
  readonly arguments: { readonly type: "object" } & JsonObject
}

const verbs = ["count", "find", "move", "label", "order", "reserve", "release", "inspect", "price", "discard"]

const departments = Array.from({ length: 20 }, (_, i) => `hall-${String(i + 1).padStart(2, "0")}`)

/** The operations of some departments. */
export const operationsOf = (departments: ReadonlyArray<string>): ReadonlyArray<Operation> =>
  departments.flatMap((department) =>
    verbs.map((verb) => ({
      name: `${department}-${verb}`,
      description: `The operation "${verb}" of ${department}.`,
      department,
      confidential: verb === "price",
      arguments: { type: "object", properties: { item: { type: "string", minLength: 1 } }, required: ["item"] }
    }))
  )

export const operations: ReadonlyArray<Operation> = operationsOf(departments)
