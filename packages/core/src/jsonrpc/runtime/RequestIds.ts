/**
 * Ids that a peer has changed: some peers return the number 7 as the string "7", or the string as the number. Answers to our requests are
 * therefore matched exactly first, then by the other form of the id: in `Calls`, and in `client/http/Answer` for the client's transports.
 * `Requests` matches the ids of cancellations in the same way.
 */
import type * as Message from "../Message.js"

/** The other form of an id: `7` for `"7"` and back. `"07"` and `"x"` have none. */
export const otherForm = (id: Message.RequestId): Message.RequestId | undefined => {
  if (typeof id === "number") return String(id)
  const number = Number(id)
  return Number.isSafeInteger(number) && String(number) === id ? number : undefined
}
