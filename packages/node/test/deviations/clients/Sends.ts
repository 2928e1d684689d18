/**
 * Makes the rows of clients whose messages deviate.
 */
import type { ClientRow } from "../Row.js"

export const sends = (
  id: string,
  deviation: string,
  message: unknown,
  does: string,
  answers: ReadonlyArray<object>,
  more: Partial<ClientRow> & { readonly status?: number } = {}
): ClientRow => {
  const { status, ...rest } = more
  return {
    id,
    method: "any",
    deviation,
    message,
    does,
    rule: "basic#messages",
    expected: { answers, ...(status === undefined ? undefined : { status }) },
    ...rest
  }
}

export const invalid = { id: 7, error: { code: -32600 } }
export const invalidWithoutId = { error: { code: -32600 } }
export const unreadable = { error: { code: -32700 } }
