/**
 * Ids that a peer has changed. Some peers return the number 7 as the string "7", or the string "7" as the number 7. Therefore an answer to
 * a request of this side is first matched by its exact id, and then by the other form of the id: in `Calls`, and in `client/http/Answer`
 * for the transports of a client. `Requests` matches the ids of cancels in the same way.
 */
import type * as Message from "../Message.js"

/** The other form of an id: the number 7 for `"7"`, and `"7"` for the number 7. `"07"` and `"x"` have no other form. */
export const otherForm = (id: Message.RequestId): Message.RequestId | undefined => {
  if (typeof id === "number") return String(id)
  const number = Number(id)
  return Number.isSafeInteger(number) && String(number) === id ? number : undefined
}
