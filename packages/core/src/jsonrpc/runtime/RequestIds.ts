/**
 * Finds the request for an id whose type a peer has changed. Some peers return the number 7 as the string "7", or the string "7" as the
 * number 7. Therefore `Calls`, and `client/http/Answer` for the transports of a client, first search the request of an answer by the exact
 * id, and then by the other form of the id. `Requests` searches the id of a cancellation in the same way.
 */
import type * as Message from "../Message.js"

/**
 * Returns the other form of an id: the number 7 for `"7"`, and `"7"` for the number 7. Returns `undefined` for `"07"` and `"x"`, which have
 * no other form.
 */
export const otherForm = (id: Message.RequestId): Message.RequestId | undefined => {
  if (typeof id === "number") return String(id)
  const number = Number(id)
  return Number.isSafeInteger(number) && String(number) === id ? number : undefined
}
